"""Towne et al., joins of two streams through a relation."""
