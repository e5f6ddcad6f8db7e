"""Loops over one-dimensional arrays, compiled by numba."""
