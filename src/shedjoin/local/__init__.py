"""The same joins without Spark, over pyarrow tables."""

from shedjoin.datasets.streams import clicks, uniform
from shedjoin.local.join import join
from shedjoin.local.multijoin import multijoin
from shedjoin.local.run import LocalBatch, Run
from shedjoin.local.star_join import star_join

__all__ = [
    "LocalBatch",
    "Run",
    "clicks",
    "join",
    "multijoin",
    "star_join",
    "uniform",
]
