"""Measurements of shedjoin: ``python -m benchmarks NAME [--quick] [--json FILE]``."""
