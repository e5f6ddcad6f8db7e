"""How good an approximate join was."""

from shedjoin.quality.fairness import jain
from shedjoin.quality.summary import Quality, compare

__all__ = ["Quality", "compare", "jain"]
