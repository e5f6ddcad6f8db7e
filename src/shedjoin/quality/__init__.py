"""How good an approximate join was."""

from shedjoin.quality.fairness import jain
from shedjoin.quality.intervals import Interval, cluster_interval
from shedjoin.quality.summary import Quality, compare

__all__ = ["Interval", "Quality", "cluster_interval", "compare", "jain"]
