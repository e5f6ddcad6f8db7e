"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from importlib.metadata import version

from shedjoin.api import join
from shedjoin.core.budget import Budget
from shedjoin.core.importance import Histogram, Lookup
from shedjoin.core.recompute import Adaptive, Amortised, Every, Successive
from shedjoin.core.window import Within
from shedjoin.policies.goals import MostImportant, MostResults

__all__ = [
    "Adaptive",
    "Amortised",
    "Budget",
    "Every",
    "Histogram",
    "Lookup",
    "MostImportant",
    "MostResults",
    "Successive",
    "Within",
    "join",
]
__version__ = version("shedjoin")
