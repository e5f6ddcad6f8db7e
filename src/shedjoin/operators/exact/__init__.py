"""The exact join: every row is kept until it expires."""
