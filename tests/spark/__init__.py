"""The join on Spark: against Spark's own join, over restarts, over Connect."""
