"""The star join: joins two streams through a relation, which may change."""
