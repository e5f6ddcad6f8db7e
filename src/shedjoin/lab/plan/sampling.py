"""Computes memory and fraction of samples that toss a coin for each result."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.plan.clusters import Window, clusters
from shedjoin.lab.plan.recall import AgeModel
from shedjoin.plan.coins import largest_fraction, last_success, whole_coins
from shedjoin.plan.model import FloatArray, as_share, at_least_zero

_REACHED = 1 - 1e-12
"""Relative tolerance: a running sum this close to a whole number has reached it."""


def uniform_memory(fraction: float, *windows: Window) -> float:
    """Number of tuples that UNIFORM is expected to keep at a sampling fraction [1]_.

    Parameters
    ----------
    fraction : float
        Share of the results to sample, from 0 to 1.
    *windows : FrequencyModel or AgeModel
        One window, or both of a join, sampled at the same fraction.

    Returns
    -------
    float
        Tuples in all windows together.

    Notes
    -----
    *Source.* Theorems 4.2 and 4.3 of [1]_.

    *Symbols.* ``fraction`` is p, the number of coins is n1(s), ``rate`` is r1, ``own``
    is f1, ``opposite`` is f2, and the running sum of ``curve`` is C1.

    *Departures.* A tuple has a whole number of coins. It has at least one, even if the
    model expects no match. If a tuple has more coins than the sum of the curve, the
    last results are assumed at the end of the curve.

    *Guarantee.* Exact if each tuple has exactly as many matches as coins, and if, under
    a frequency model, these are spread evenly. If matches come at random times, less
    memory is used.

    *Cost.* O(n) for n values, or for n results of a tuple under an age curve.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> round(uniform_memory(0.3, AgeModel([1, 1, 2, 1])), 5)
    2.54883
    """
    as_share("fraction", fraction)
    return sum(_memory(fraction, window) for window in windows)


def uniform_fraction(memory: float, *windows: Window) -> float:
    """The largest fraction that UNIFORM can sample in a memory [1]_.

    Parameters
    ----------
    memory : float
        Tuples that all windows together may keep.
    *windows : FrequencyModel or AgeModel
        One window, or both of a join, sampled at the same fraction.

    Returns
    -------
    float
        From 0 to 1. It is 1 if the memory suffices for all results.

    Notes
    -----
    *Source.* Section 4.2.2 of [1]_. The fraction is that for which ``uniform_memory``
    equals the memory.

    *Departures.* UNIFORM keeps two numbers with each tuple. The paper counts their
    bytes separately. Here ``memory`` is a number of tuples that include them.

    *Guarantee.* The memory is used on average. At a given time, more or less is used.

    *Cost.* A few dozen calls of ``uniform_memory``.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> round(uniform_fraction(2.54883, AgeModel([1, 1, 2, 1])), 6)
    0.3
    >>> uniform_fraction(4, AgeModel([1, 1, 2, 1]))
    1.0
    """
    at_least_zero("memory", memory)
    return largest_fraction(lambda tried: uniform_memory(tried, *windows), memory)


def _memory(fraction: float, window: Window) -> float:
    arrivals, size = clusters(window)
    coins = whole_coins(size)
    if isinstance(window, AgeModel):
        results = np.arange(1.0, coins[0] + 1)
        is_last = fraction * (1 - fraction) ** (coins[0] - results)
        return window.rate * float(is_last @ _ages(window, results))
    kept = arrivals @ last_success(fraction, coins)
    return window.window * float(kept)


def _ages(window: AgeModel, results: FloatArray) -> FloatArray:
    """Age at which a tuple has had its first, second, ... result."""
    yields = np.cumsum(window.curve)
    places = np.searchsorted(yields, results * _REACHED)
    ages: FloatArray = np.minimum(places + 1.0, yields.size)
    return ages
