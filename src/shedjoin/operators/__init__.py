"""Joins of one shard, independent of the engine: open, run a step, and commit."""
