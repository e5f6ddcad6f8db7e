"""Joins without an engine, each opening, stepping and committing one shard."""
