"""Joins two streams through a relation: a table of the keys that belong together."""
