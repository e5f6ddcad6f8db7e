"""The same join without Spark, over pyarrow tables."""

from shedjoin.local.runner import LocalBatch, Run, join
from shedjoin.local.streams import clicks, uniform

__all__ = ["LocalBatch", "Run", "clicks", "join", "uniform"]
