"""Joins of streaming DataFrames: the package that imports PySpark."""

from shedjoin.spark.aggregate import aggregate
from shedjoin.spark.join import join

__all__ = ["aggregate", "join"]
