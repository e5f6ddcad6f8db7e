"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from shedjoin.api import estimate, join
from shedjoin.core.budget import Budget
from shedjoin.core.importance import Histogram, Lookup
from shedjoin.core.recompute import Adaptive, Amortised, Every, Successive
from shedjoin.core.window import Within
from shedjoin.policies.goals import MostImportant, MostResults, Sample
from shedjoin.quality.aggregates import Avg, Count, Sum
from shedjoin.version import VERSION

__all__ = [
    "Adaptive",
    "Amortised",
    "Avg",
    "Budget",
    "Count",
    "Every",
    "Histogram",
    "Lookup",
    "MostImportant",
    "MostResults",
    "Sample",
    "Successive",
    "Sum",
    "Within",
    "estimate",
    "join",
]
__version__ = VERSION
