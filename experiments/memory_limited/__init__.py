"""Tables and figures of the memory-limited joins."""
