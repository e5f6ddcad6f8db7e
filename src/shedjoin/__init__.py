"""Stream joins inside a fixed budget, on Spark Structured Streaming."""

from importlib import import_module
from types import ModuleType

from shedjoin.api import estimate, join, multijoin
from shedjoin.policies.goals import MostImportant, MostResults, Sample
from shedjoin.sampling.aggregates import Avg, Count, Sum
from shedjoin.spec.budget import Budget
from shedjoin.spec.importance import Histogram, Lookup
from shedjoin.spec.recompute import Adaptive, Amortised, Every, Successive
from shedjoin.spec.window import Within
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
    "multijoin",
]
__version__ = VERSION

_ON_DEMAND = ("local", "plan", "policies", "quality", "testing")
"""Parts that ``shedjoin.local`` and the like import when they are asked for: they need
packages that a driver does without, and time to start."""


def __getattr__(name: str) -> ModuleType:
    if name in _ON_DEMAND:
        return import_module(f"shedjoin.{name}")
    raise AttributeError(f"module 'shedjoin' has no attribute {name!r}")
