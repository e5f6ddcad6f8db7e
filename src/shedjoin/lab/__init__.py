"""Optima, planners and formulas of the papers, and workloads: no query needs them."""
