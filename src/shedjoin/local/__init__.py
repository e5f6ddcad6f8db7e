"""The same joins without Spark, over pyarrow tables."""

from shedjoin.local.join import join
from shedjoin.local.lookup_join import lookup_join
from shedjoin.local.multijoin import multijoin
from shedjoin.local.run import LocalBatch, Run
from shedjoin.local.streams import clicks, uniform

__all__ = [
    "LocalBatch",
    "Run",
    "clicks",
    "join",
    "lookup_join",
    "multijoin",
    "uniform",
]
