"""The join of two streams through a relation that may change."""
