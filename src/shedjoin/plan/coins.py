"""Coins of a sampled join: one for each result that a tuple is expected to yield."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special
from scipy.optimize import brentq

from shedjoin.plan.model import FITS, FloatArray

_MOST_STEPS = 1000


def whole_coins(size: FloatArray) -> FloatArray:
    """Number of coins that UNIFORM flips for a tuple: a whole number, at least one."""
    coins: FloatArray = np.maximum(1.0, np.rint(size))
    return coins


def some_success(fraction: float, coins: FloatArray) -> FloatArray:
    """Probability that at least one coin succeeds."""
    # 1 - q**n would lose all digits if the fraction is small. The fraction may be 1.
    chance: FloatArray = -special.expm1(special.xlog1py(coins, -fraction))
    return chance


def last_success(fraction: float, coins: FloatArray) -> FloatArray:
    """Expected place of the last success, as a share of all coins; 0 for none."""
    if fraction == 0:
        return np.zeros_like(coins)
    failed = (1 - fraction) * some_success(fraction, coins) / (fraction * coins)
    place: FloatArray = np.maximum(0.0, 1 - failed)
    return place


def largest_fraction(use: Callable[[float], float], budget: float) -> float:
    """Largest fraction, from 0 to 1, for which ``use(fraction)`` fits the budget.

    ``use`` must be 0 at 0 and must not decrease.
    """
    if use(1.0) <= budget * FITS:
        return 1.0
    found = brentq(
        lambda fraction: use(fraction) - budget,
        0.0,
        1.0,
        xtol=1e-15,
        maxiter=_MOST_STEPS,
    )
    return float(found)
