"""The join as a streaming DataFrame: the only part that knows Spark."""

from shedjoin.spark.estimate import estimate
from shedjoin.spark.join import join

__all__ = ["estimate", "join"]
