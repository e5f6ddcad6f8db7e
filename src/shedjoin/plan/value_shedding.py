"""The best shedding by value of the key within an amount of work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.plan.costs import Costs
from shedjoin.plan.join_load import ValueLoad
from shedjoin.plan.model import FITS, FloatArray, not_negative
from shedjoin.plan.random_shedding import probe_no_insert
from shedjoin.plan.ratio import by_ratio
from shedjoin.types import BoolArray, IntArray


class ValueShedding(NamedTuple):
    """Chances of the arrivals of each value, and what the join yields with them.

    ``admitted`` arrivals probe; the others are dropped. ``left`` and ``right`` are the
    chances to be stored. ``results`` and ``work`` are per time unit.

    Examples
    --------
    >>> chances = np.array([1.0, 0.5])
    >>> shedding = ValueShedding(chances > 0, chances, chances, 30.0, 1.0, 0.75)
    >>> shedding.recall
    0.75
    """

    admitted: BoolArray
    left: FloatArray
    right: FloatArray
    results: float
    work: float
    recall: float


def value_probe_no_insert(
    work: float, load: ValueLoad, *, costs: Costs
) -> ValueShedding:
    """Let every arrival probe, and store arrivals whose values yield most results.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are
        times in this time unit, 1 is all of the time.
    load : ValueLoad
        The join, value by value.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    ValueShedding
        All values are admitted.

    Notes
    -----
    *Source.* ``probe_no_insert``, PNI of [1]_, but with a chance for each value and
    stream instead of one for each stream. [1]_ does not consider this. The order of
    insertions is PROB of [2]_, and every arrival probes.

    *Symbols.* ``load.left`` f_L(v) lambda_L, ``load.right`` f_R(v) lambda_R.

    *Departures.* [1]_ uses PROB as a filter that drops arrivals before they probe
    (``lab.plan.prob_filter``), and finds it worse than ``online_max_subset``. As an
    order of insertions, PROB is never worse than ``online_max_subset``.

    *Guarantee.* Optimal: it solves the linear program over all chances. At most one
    chance lies between 0 and 1. If rows of several values or streams yield the same,
    those of the left stream are stored first, and within a stream those of the value
    that is listed first.

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
    >>> best = value_probe_no_insert(0.8, load, costs=Costs(update=0.05, match=0.01))
    >>> best.left.round(6).tolist(), best.right.round(6).tolist()
    ([0.0, 0.166667, 1.0], [1.0, 0.0, 0.0])
    >>> round(best.results, 6)
    67.5
    """
    not_negative("work", work)
    left, right = load.rates
    stored = np.concatenate((left, right))
    yields = np.concatenate((right * load.left_window, left * load.right_window))
    needed = stored * (costs.update + yields * costs.match)
    best_first = np.argsort(-yields, kind="stable")
    chances = filled(work, needed, best_first)
    shares = chances[: left.size], chances[left.size :]
    return _predicted(np.ones(left.size, dtype=np.bool_), shares, load, costs)


def online_max_subset(work: float, load: ValueLoad, *, costs: Costs) -> ValueShedding:
    """Keep all rows of the values with most results per work, drop all others [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are
        times in this time unit, 1 is all of the time.
    load : ValueLoad
        The join, value by value.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    ValueShedding
        At most one value is admitted in part: the first that does not fit as a whole.

    Notes
    -----
    *Source.* Online Max-Subset, section 3.2.2 and Figure 2 of [1]_.

    *Symbols.* ``load.results / load.work(costs)`` P(v), ``load.work(costs)`` C(v).
    ``load.component(u)`` is the join that step 14 optimises.

    *Departures.* None. The paper allows several strategies for the value that does not
    fit as a whole. Here that is ``probe_no_insert``. If values have equal ratios of
    results to work, those that are listed first are kept. Ratios that differ only by
    rounding are equal.

    *Guarantee.* None: it is a heuristic. It never finds more results than
    ``value_probe_no_insert``.

    *Cost.* O(n log n) for n values.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = ValueLoad([6, 3, 1], [1, 3, 6], left_window=5, right_window=5)
    >>> found = online_max_subset(0.8, load, costs=Costs(update=0.05, match=0.01))
    >>> found.admitted.tolist(), found.left.round(6).tolist(), round(found.results, 6)
    ([False, True, False], [0.0, 1.0, 0.0], 60.0)
    """
    not_negative("work", work)
    needed = load.work(costs)
    best_first = by_ratio(load.results, needed)
    total = np.cumsum(needed[best_first])
    whole = int(np.searchsorted(total, work * FITS, side="right"))
    left, right = np.zeros(needed.size), np.zeros(needed.size)
    left[best_first[:whole]] = right[best_first[:whole]] = 1.0
    if whole < needed.size:
        value = int(best_first[whole])
        rest = max(0.0, work - float(total[whole - 1])) if whole else work
        part = probe_no_insert(rest, load.component(value), costs=costs)
        left[value], right[value] = part.left, part.right
    return _predicted((left > 0) | (right > 0), (left, right), load, costs)


def filled(work: float, needed: FloatArray, order: IntArray) -> FloatArray:
    """Share of each item that fits, if items are taken in order until all work is used.

    ``order`` has the numbers of the items. An item that needs no work always fits.

    Examples
    --------
    >>> filled(2.5, np.array([1.0, 2.0, 1.0]), np.array([0, 1, 2])).tolist()
    [1.0, 0.75, 0.0]
    """
    shares = np.empty_like(needed)
    needed = needed[order]
    before = np.cumsum(needed) - needed
    fits = (needed <= 0) | (before + needed <= work * FITS)
    part = np.divide(work - before, needed, out=np.ones_like(needed), where=~fits)
    shares[order] = np.where(fits, 1.0, np.clip(part, 0.0, 1.0))
    return shares


def _predicted(
    admitted: BoolArray,
    chances: tuple[FloatArray, FloatArray],
    load: ValueLoad,
    costs: Costs,
) -> ValueShedding:
    left, right = chances
    left_rates, right_rates = load.rates
    stored = float(left_rates @ left + right_rates @ right)
    windows = load.left_window * left + load.right_window * right
    results = float((left_rates * right_rates) @ windows)
    exact = float(load.results.sum())
    recall = min(1.0, results / exact) if exact > 0 else 1.0
    work = stored * costs.update + results * costs.match
    return ValueShedding(admitted, left, right, results, work, recall)
