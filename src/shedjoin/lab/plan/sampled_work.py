"""Computes the work of a sampled join, and the sampling fraction for some work."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.plan.clusters import clusters
from shedjoin.lab.plan.recall import FrequencyModel
from shedjoin.plan.coins import largest_fraction, last_success, some_success
from shedjoin.plan.costs import Costs
from shedjoin.plan.model import FloatArray, as_share, not_negative


def discarded(fraction: float, window: FrequencyModel) -> FloatArray:
    """Probability that all coins of a tuple fail, for each value: equation 18.

    Examples
    --------
    >>> window = FrequencyModel([0.5, 0.5], [0.3, 0.2], window=10)
    >>> discarded(0.5, window).round(6).tolist()
    [0.125, 0.25]
    """
    as_share("fraction", fraction)
    return 1 - some_success(fraction, _coins(window))


def admitted(fraction: float, window: FrequencyModel) -> float:
    """Tuples per time unit with at least one coin that succeeds: equations 19 and 20.

    Examples
    --------
    >>> window = FrequencyModel([0.5, 0.5], [0.3, 0.2], window=10, rate=8)
    >>> round(admitted(0.5, window), 6)
    6.5
    """
    as_share("fraction", fraction)
    return float(clusters(window).arrivals @ some_success(fraction, _coins(window)))


def residence(fraction: float, window: FrequencyModel) -> FloatArray:
    """Time until the last sampled match of a tuple, for each value: equation 21.

    The time of discarded tuples counts as 0.

    Examples
    --------
    >>> window = FrequencyModel([0.5, 0.5], [0.5, 0.3], window=10)
    >>> residence(0.5, window).round(6).tolist()
    [8.0625, 7.083333]
    """
    as_share("fraction", fraction)
    return window.window * last_success(fraction, _coins(window))


def sampled_probes(fraction: float, *windows: FrequencyModel) -> float:
    """Matches per time unit that are found, sampled or not: equation 22.

    Examples
    --------
    >>> window = FrequencyModel([0.5, 0.5], [0.5, 0.3], window=10)
    >>> round(sampled_probes(0.5, window), 6), round(sampled_probes(1, window), 6)
    (3.078125, 4.0)
    """
    return sum(
        float(_meetings(window) @ residence(fraction, window)) for window in windows
    )


def sampled_work(
    fraction: float,
    *windows: FrequencyModel,
    costs: Costs,
    conservative: bool = False,
) -> float:
    """Work per time unit of a join that samples a fraction of its results [1]_.

    Parameters
    ----------
    fraction : float
        Share of the results to sample, from 0 to 1.
    *windows : FrequencyModel
        One window, or both of a join, sampled at the same fraction.
    costs : Costs
        Work of an insertion and of a match.
    conservative : bool, default False
        If True, every match that is found counts as work. Otherwise, only sampled
        matches count.

    Returns
    -------
    float
        In the unit of the costs.

    Notes
    -----
    *Source.* Equations 18 to 25 of [1]_. If ``conservative``, the result is that of
    equation 23, otherwise that of equation 25.

    *Symbols.* ``fraction`` is p, ``own`` is fL, ``opposite`` is fR, ``rate`` is
    lambda_L, ``opposite_rate`` is lambda_R, and ``window`` is T_L. For the other
    window, L and R are exchanged.

    *Departures.* A tuple has at least one coin. In the paper, it may have less than
    one. Then equation 18 discards most tuples at any fraction below 1. So a fraction of
    almost 1 can seem to fit the work, although a fraction of 1 does not.

    *Guarantee.* An expectation for matches that are spread evenly over the window. If
    matches come at random times, equation 23 gives more than the work that is done.

    *Cost.* O(n) for n values.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> left = FrequencyModel([0.5, 0.5], [0.75, 0.25], 5, rate=10, opposite_rate=10)
    >>> right = FrequencyModel([0.75, 0.25], [0.5, 0.5], 5, rate=10, opposite_rate=10)
    >>> costs = Costs(update=0.02, match=0.005)
    >>> round(sampled_work(0.2, left, right, costs=costs), 6)
    0.893075
    >>> round(sampled_work(0.2, left, right, costs=costs, conservative=True), 6)
    2.5
    """
    updates = sum(admitted(fraction, window) for window in windows)
    if conservative:
        matches = sampled_probes(fraction, *windows)
    else:
        matches = fraction * sampled_probes(1.0, *windows)
    return updates * costs.update + matches * costs.match


def work_fraction(
    work: float,
    *windows: FrequencyModel,
    costs: Costs,
    conservative: bool = False,
) -> float:
    """The largest fraction that can be sampled with an amount of work [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are in
        time units, it is 1.
    *windows : FrequencyModel
        One window, or both of a join, sampled at the same fraction.
    costs : Costs
        Work of an insertion and of a match.
    conservative : bool, default False
        If True, every match that is found counts as work. Otherwise, only sampled
        matches count.

    Returns
    -------
    float
        From 0 to 1. It is 1 if the work suffices for all results.

    Notes
    -----
    *Source.* Section 4.1 of [1]_. The fraction is that for which ``sampled_work``
    equals the work.

    *Cost.* A few dozen calls of ``sampled_work``.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> left = FrequencyModel([0.5, 0.5], [0.75, 0.25], 5, rate=10, opposite_rate=10)
    >>> right = FrequencyModel([0.75, 0.25], [0.5, 0.5], 5, rate=10, opposite_rate=10)
    >>> costs = Costs(update=0.06, match=0.005)
    >>> round(work_fraction(1, left, right, costs=costs), 6)
    0.054209
    """
    not_negative("work", work)

    def needed(fraction: float) -> float:
        return sampled_work(fraction, *windows, costs=costs, conservative=conservative)

    return largest_fraction(needed, work)


def _coins(window: FrequencyModel) -> FloatArray:
    return np.maximum(1.0, clusters(window).size)


def _meetings(window: FrequencyModel) -> FloatArray:
    """Matching pairs between arrivals of one time unit of each stream, by value."""
    opposite = window.opposite_rate * np.asarray(window.opposite)
    return clusters(window).arrivals * opposite
