"""The same joins without Spark, over pyarrow tables."""

from shedjoin.datasets.streams import clicks, uniform
from shedjoin.local.join import join
from shedjoin.local.multijoin import multijoin
from shedjoin.local.run import LocalBatch, Run

__all__ = ["LocalBatch", "Run", "clicks", "join", "multijoin", "uniform"]
