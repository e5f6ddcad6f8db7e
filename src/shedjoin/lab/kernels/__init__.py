"""Kernels of the laboratory."""
