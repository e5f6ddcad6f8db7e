"""The same joins without Spark, over pyarrow tables."""

from shedjoin.datasets.streams import clicks, uniform
from shedjoin.local.join import join
from shedjoin.local.multijoin import multijoin
from shedjoin.local.relation_join import relation_join
from shedjoin.local.run import LocalBatch, Run
from shedjoin.local.star_join import star_join

__all__ = [
    "LocalBatch",
    "Run",
    "clicks",
    "join",
    "multijoin",
    "relation_join",
    "star_join",
    "uniform",
]
