"""Uniform sampling in a memory, with a coin for each result."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.plan.clusters import Window, clusters
from shedjoin.lab.plan.recall import AgeModel
from shedjoin.plan.coins import largest_fraction, last_success, whole_coins
from shedjoin.plan.model import FloatArray, as_share, at_least_zero

_REACHED = 1 - 1e-12
"""Relative tolerance: a running sum this close to a whole number has reached it."""


def uniform_memory(fraction: float, *windows: Window) -> float:
    """Tuples that UNIFORM is expected to keep at a sampling fraction [1]_.

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

    *Symbols.* ``fraction`` p, coins n1(s), ``rate`` r1, ``own`` f1, ``opposite`` f2,
    running sum of ``curve`` C1.

    *Departures.* A tuple has a whole number of coins, and at least one, even if the
    model expects no match. Results beyond the sum of the curve come at its end.

    *Guarantee.* Exact if a tuple has exactly that many matches, evenly spread under a
    frequency model. With matches at random times, less memory is used.

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
        From 0 to 1; 1 if the memory suffices for all results.

    Notes
    -----
    *Source.* Section 4.2.2 of [1]_: ``uniform_memory`` set equal to the memory.

    *Departures.* The paper counts the two numbers kept with each tuple in bytes; here
    ``memory`` is in tuples of that larger size.

    *Guarantee.* On average; the memory used varies around it.

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
    """Age by which a tuple has yielded its first, second, ... result."""
    yields = np.cumsum(window.curve)
    places = np.searchsorted(yields, results * _REACHED)
    ages: FloatArray = np.minimum(places + 1.0, yields.size)
    return ages
