"""The join as a streaming DataFrame: the only part that knows Spark."""

from shedjoin.spark.aggregate import aggregate
from shedjoin.spark.join import join

__all__ = ["aggregate", "join"]
