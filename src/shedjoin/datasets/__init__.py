"""Synthetic streams and example data."""
