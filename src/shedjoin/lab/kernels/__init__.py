"""Kernels for computations on archives."""
