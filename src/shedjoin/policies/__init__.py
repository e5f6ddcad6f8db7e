"""Policies by name, and the goals that pick one."""

from shedjoin.policies.baseline import Fifo, Greedy, Rand, Recent, UntilExpiry
from shedjoin.policies.goals import MostImportant, MostResults
from shedjoin.policies.ijoin import IJoin, Size
from shedjoin.policies.learned import Expected, Valued
from shedjoin.policies.srivastava_widom import Age, Prob

POLICIES = (
    Fifo,
    Rand,
    Recent,
    UntilExpiry,
    Greedy,
    Prob,
    Age,
    Size,
    IJoin,
    Expected,
    Valued,
)

__all__ = [
    "POLICIES",
    "Age",
    "Expected",
    "Fifo",
    "Greedy",
    "IJoin",
    "MostImportant",
    "MostResults",
    "Prob",
    "Rand",
    "Recent",
    "Size",
    "UntilExpiry",
    "Valued",
]
