"""Tests of policies, including policies of users: ``check_policy(MyPolicy())``."""

from shedjoin.testing.contract import CHECKS, check_policy
from shedjoin.testing.invariant import Invariant, Trials
from shedjoin.testing.scenario import Scenario
from shedjoin.testing.streams import busy, in_order, large, steady

__all__ = [
    "CHECKS",
    "Invariant",
    "Scenario",
    "Trials",
    "busy",
    "check_policy",
    "in_order",
    "large",
    "steady",
]
