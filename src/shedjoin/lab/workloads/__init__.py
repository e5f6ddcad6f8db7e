"""Synthetic streams, as papers describe them."""
