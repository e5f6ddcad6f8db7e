"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from shedjoin.api import aggregate, join, multijoin
from shedjoin.columns.cells import cells_of
from shedjoin.control.folder import Control
from shedjoin.on_demand import __getattr__ as __getattr__
from shedjoin.policies.goals import MostImportant, MostResults, Sample
from shedjoin.relations import lookup_join, polled_relation, stop_polling
from shedjoin.request.options import Options
from shedjoin.request.relations import Relation
from shedjoin.sampling.aggregates import Avg, Count, Sum
from shedjoin.sizing import size
from shedjoin.spec.budget import Budget
from shedjoin.spec.cells import Cells
from shedjoin.spec.importance import ByCategory, ByRange
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
    "ByCategory",
    "ByRange",
    "Cells",
    "Control",
    "Count",
    "Every",
    "MostImportant",
    "MostResults",
    "Options",
    "Relation",
    "Sample",
    "Successive",
    "Sum",
    "Where",
    "Within",
    "aggregate",
    "cells_of",
    "join",
    "lookup_join",
    "multijoin",
    "polled_relation",
    "size",
    "stop_polling",
]
__version__ = VERSION
