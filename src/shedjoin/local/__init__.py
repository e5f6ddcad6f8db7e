"""The same join without Spark, over pyarrow tables."""

from shedjoin.datasets.streams import clicks, uniform
from shedjoin.local.runner import LocalBatch, Run, join

__all__ = ["LocalBatch", "Run", "clicks", "join", "uniform"]
