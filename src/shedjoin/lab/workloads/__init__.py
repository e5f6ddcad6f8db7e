"""Synthetic streams for experiments."""
