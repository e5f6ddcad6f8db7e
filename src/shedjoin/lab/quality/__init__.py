"""Measures of the quality of an approximate join."""

from shedjoin.lab.quality.fairness import jain
from shedjoin.lab.quality.summary import Quality, compare
from shedjoin.sampling.intervals import Interval, cluster_interval

__all__ = ["Interval", "Quality", "cluster_interval", "compare", "jain"]
