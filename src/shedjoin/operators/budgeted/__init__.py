"""The join under a budget: residents compete for slots."""
