"""Samples: lots, thresholds, weights, estimators and intervals."""
