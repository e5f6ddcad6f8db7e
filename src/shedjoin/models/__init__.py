"""Models that an operator learns while it runs, and that policies query."""
