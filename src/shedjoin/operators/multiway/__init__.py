"""Joins by predicates, and joins of more than two streams with a memory budget."""
