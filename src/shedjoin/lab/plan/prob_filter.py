"""PROB as a filter in front of a join with too little CPU."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.plan.costs import Costs
from shedjoin.plan.join_load import ValueLoad
from shedjoin.plan.model import FloatArray, not_negative
from shedjoin.plan.value_shedding import filled


class Filter(NamedTuple):
    """Chances of the arrivals of each value to take part, and results and work.

    Arrivals that do not take part neither probe nor are stored. ``results`` and
    ``work`` are per time unit.

    Examples
    --------
    >>> Filter(np.array([1.0]), np.array([0.5]), results=30.0, work=1.0).right.tolist()
    [0.5]
    """

    left: FloatArray
    right: FloatArray
    results: float
    work: float


def prob_filter(work: float, load: ValueLoad, *, costs: Costs) -> Filter:
    """Admit the arrivals whose values are most frequent on the other stream [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are in
        time units, it is 1.
    load : ValueLoad
        The join, value by value.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    Filter
        For each value and stream, either all arrivals are admitted or none. Of the
        first arrivals that do not fit, a random part is admitted.

    Notes
    -----
    *Source.* PROB of [2]_, in the form that section 3.2.2 of [1]_ compares with
    ``online_max_subset``. The priority of an arrival is the frequency of its value on
    the other stream.

    *Symbols.* ``load.left`` is f_L(v) lambda_L, the priority of right arrivals.
    ``load.right`` is f_R(v) lambda_R, the priority of left arrivals.

    *Departures.* [1]_ does not say whether an arrival of low priority probes. Here it
    is dropped before it probes, as under ``online_max_subset``. Only under this reading
    is PROB worse on inversely correlated streams. ``value_probe_no_insert`` is the
    other reading: every arrival probes, and PROB decides which rows are inserted.
    Priorities are rates, so that streams of different rates can be compared. Among
    equal priorities, left arrivals come first, then those of the first value.

    *Guarantee.* None, since it is a heuristic. It may spend work on arrivals whose
    partners are all dropped.

    *Cost.* O(n log n) for n values.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.
    .. [2] A. Das, J. Gehrke, M. Riedewald, "Approximate Join Processing over Data
       Streams", SIGMOD 2003.

    Examples
    --------
    >>> load = ValueLoad([6, 3, 1], [1, 3, 6], left_window=5, right_window=5)
    >>> found = prob_filter(0.8, load, costs=Costs(update=0.05, match=0.01))
    >>> found.left.tolist(), found.right.round(6).tolist()
    ([0.0, 1.0, 1.0], [1.0, 0.52381, 0.0])
    >>> round(found.results, 6)
    47.142857
    """
    not_negative("work", work)
    left, right = load.rates
    values = left.size
    best_first = np.argsort(-np.concatenate((right, left)), kind="stable")
    turn = np.empty_like(best_first)
    turn[best_first] = np.arange(2 * values)
    # Both rows of a match must be admitted, so matches need work with the later one.
    is_later = turn > np.roll(turn, values)
    matches = np.where(is_later, np.tile(load.results, 2), 0.0)
    needed = np.concatenate((left, right)) * costs.update + matches * costs.match
    chances = filled(work, needed, best_first)
    admitted = chances[:values], chances[values:]
    results = float(load.results @ (admitted[0] * admitted[1]))
    updates = float(left @ admitted[0] + right @ admitted[1])
    return Filter(*admitted, results, updates * costs.update + results * costs.match)
