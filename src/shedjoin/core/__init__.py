"""The join over batches of columns, without an engine."""
