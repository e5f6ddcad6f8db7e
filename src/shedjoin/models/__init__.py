"""What the operator learns while it runs; policies ask, nobody tells them the truth."""
