"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from shedjoin.api import aggregate, estimate, join, multijoin
from shedjoin.columns.cells import cells_of
from shedjoin.control.folder import Control
from shedjoin.on_demand import __getattr__ as __getattr__
from shedjoin.policies.goals import MostImportant, MostResults, Sample
from shedjoin.relations import (
    polled_relation,
    relation_join,
    star_join,
    stop_polling,
)
from shedjoin.sampling.aggregates import Avg, Count, Sum
from shedjoin.sizing import size
from shedjoin.spec.budget import Budget
from shedjoin.spec.cells import Cells
from shedjoin.spec.importance import Histogram, Lookup
from shedjoin.spec.predicates import Band, Where
from shedjoin.spec.recompute import Adaptive, Amortised, Every, Successive
from shedjoin.spec.window import Within
from shedjoin.version import VERSION

__all__ = [
    "Adaptive",
    "Amortised",
    "Avg",
    "Band",
    "Budget",
    "Cells",
    "Control",
    "Count",
    "Every",
    "Histogram",
    "Lookup",
    "MostImportant",
    "MostResults",
    "Sample",
    "Successive",
    "Sum",
    "Where",
    "Within",
    "aggregate",
    "cells_of",
    "estimate",
    "join",
    "multijoin",
    "polled_relation",
    "relation_join",
    "size",
    "star_join",
    "stop_polling",
]
__version__ = VERSION
