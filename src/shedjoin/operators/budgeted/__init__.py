"""The join by key with a budget: rows are shed to stay within the budget."""
