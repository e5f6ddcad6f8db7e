"""Ayad et al., CPU-limited window joins."""
