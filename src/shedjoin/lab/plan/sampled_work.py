"""Sampling fractions that an amount of work allows."""

from __future__ import annotations

import numpy as np

from shedjoin.lab.plan.clusters import clusters
from shedjoin.lab.plan.recall import FrequencyModel
from shedjoin.plan.coins import largest_fraction, last_success, some_success
from shedjoin.plan.costs import Costs
from shedjoin.plan.model import FloatArray, as_share, not_negative


def discarded(fraction: float, window: FrequencyModel) -> FloatArray:
    """Probability that all coins of a tuple fail, value by value: equation 18.

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
    """Time until the last sampled match of a tuple, value by value: equation 21.

    Tuples that are discarded count as 0.

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
        Whether every match that is found counts, or only those that are sampled.

    Returns
    -------
    float
        In the unit of the costs.

    Notes
    -----
    *Source.* Equations 18 to 25 of [1]_; equation 23 when ``conservative``, else 25.

    *Symbols.* ``fraction`` p, ``own`` fL, ``opposite`` fR, ``rate`` lambda_L,
    ``opposite_rate`` lambda_R, ``window`` T_L; mirrored for the other window.

    *Departures.* A tuple has at least one coin. With less, equation 18 discards most
    tuples at any fraction below 1, and a fraction of almost 1 seems to fit although all
    results do not.

    *Guarantee.* An expectation for matches that are evenly spread over the window. With
    matches at random times, equation 23 is larger than the work done.

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
        Work that may be done per time unit, in the unit of the costs; 1 for costs in
        time units.
    *windows : FrequencyModel
        One window, or both of a join, sampled at the same fraction.
    costs : Costs
        Work of an insertion and of a match.
    conservative : bool, default False
        Whether every match that is found counts, or only those that are sampled.

    Returns
    -------
    float
        From 0 to 1; 1 if the work suffices for all results.

    Notes
    -----
    *Source.* Section 4.1 of [1]_: ``sampled_work`` set equal to the work.

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
