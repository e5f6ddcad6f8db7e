"""The join by predicates."""
