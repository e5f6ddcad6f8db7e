"""Computations on archives in DataFrames of Spark."""
