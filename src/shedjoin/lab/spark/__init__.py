"""Archives in DataFrames of Spark."""
