"""The best random shedding of a window join within an amount of work."""

from __future__ import annotations

from math import sqrt

from shedjoin.errors import ParameterError
from shedjoin.plan.costs import Costs
from shedjoin.plan.join_load import JoinLoad
from shedjoin.plan.model import FITS, not_negative
from shedjoin.plan.predicted_shedding import RandomShedding, predicted_shedding


def coin_flip(work: float, load: JoinLoad, *, costs: Costs) -> RandomShedding:
    """Choose chances to take part, so that most results are found [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are
        times in this time unit, 1 is all of the time.
    load : JoinLoad
        The join.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    RandomShedding
        Chances to take part.

    Notes
    -----
    *Source.* CF, equations 10 and 11 of [1]_, which states the problem but not how to
    solve it.

    *Symbols.* ``left`` x_L, ``right`` x_R.

    *Departures.* None. Both streams are thinned to the same rate. A stream with a lower
    rate is not thinned.

    *Guarantee.* Optimal. It never finds more results than ``probe_no_insert``.

    *Cost.* O(1).

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = JoinLoad(0.01, 100, 100, left_window=10, right_window=10)
    >>> best = coin_flip(1, load, costs=Costs(update=0.004, match=0.0005))
    >>> round(best.left, 6), round(best.right, 6), round(best.results, 6)
    (0.677033, 0.677033, 916.747262)
    """
    not_negative("work", work)
    left = right = 1.0
    if load.work(costs) > work * FITS:
        slow, fast = sorted((load.left_rate, load.right_rate))
        both = load.selectivity * (load.left_window + load.right_window) * costs.match
        rate = _balanced(work, both, costs.update)
        if rate < slow:
            left, right = rate / load.left_rate, rate / load.right_rate
        else:
            rest = (work - slow * costs.update) / (costs.update + both * slow)
            thinned = min(1.0, rest / fast)
            is_left = load.left_rate == fast
            left, right = (thinned, 1.0) if is_left else (1.0, thinned)
    return predicted_shedding("coin_flip", load, left, right, costs=costs)


def insert_no_probe(work: float, load: JoinLoad, *, costs: Costs) -> RandomShedding:
    """Store every arrival, and let some probe, so that most results are found [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are
        times in this time unit, 1 is all of the time. It must suffice to store all
        arrivals.
    load : JoinLoad
        The join.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    RandomShedding
        Chances to probe.

    Notes
    -----
    *Source.* INP, equations 12, 13 and 16 of [1]_.

    *Symbols.* ``left`` x_L, ``right`` x_R.

    *Departures.* Work that does not suffice to store all arrivals is refused. The paper
    does not mention this case, and Lemma 1 and Theorem 2 do not hold in it. The
    proof of Theorem 2 takes equation 16 to be greater than equation 17, but it is less.
    The work allows a certain number of results, whichever stream's arrivals find them.
    So many pairs of chances find equally many results. Here both streams have the same
    chance.

    *Guarantee.* Optimal. It never finds more results than ``coin_flip``. The paper's
    conclusions praise this scheme, but mean ``probe_no_insert``.

    *Cost.* O(1).

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = JoinLoad(0.01, 100, 100, left_window=10, right_window=10)
    >>> best = insert_no_probe(1, load, costs=Costs(update=0.004, match=0.0005))
    >>> round(best.left, 6), round(best.right, 6), round(best.results, 6)
    (0.2, 0.2, 400.0)
    """
    not_negative("work", work)
    arrivals = load.left_rate + load.right_rate
    updates = arrivals * costs.update
    if updates > work * FITS:
        raise ParameterError(
            f"work={work!r} does not suffice to store all arrivals: {arrivals:g} per "
            f"time unit, at update={costs.update!r} each, take {updates:g} in all.",
            fix="use probe_no_insert, which finds the most results with any amount of "
            f"work, or pass work={updates:g} or more.",
        )
    most = load.results * costs.match
    chance = 1.0 if most <= 0 else min(1.0, max(0.0, work - updates) / most)
    return predicted_shedding("insert_no_probe", load, chance, chance, costs=costs)


def probe_no_insert(work: float, load: JoinLoad, *, costs: Costs) -> RandomShedding:
    """Let every arrival probe, and store some, so that most results are found [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in the unit of the costs. If costs are
        times in this time unit, 1 is all of the time.
    load : JoinLoad
        The join.
    costs : Costs
        Work of an insertion and of a match.

    Returns
    -------
    RandomShedding
        Chances to be stored.

    Notes
    -----
    *Source.* PNI, equations 14 and 15 of [1]_, which states the problem but not how to
    solve it.

    *Symbols.* ``left`` x_L, ``right`` x_R.

    *Departures.* Equations 28 and 29 lack the selectivity, which is applied here.
    The paper takes inequality 26 to be strict unless both chances are 1, but both sides
    are also equal if both chances are 0. So Theorem 3 has an exception: if no work is
    allowed, ``coin_flip`` finds as many results as this scheme, which is none.

    *Guarantee.* Optimal, and the best of the three schemes by Theorem 3. The stream
    whose rows each yield more results is stored first. So at most one of the two
    chances lies between 0 and 1. If rows of both streams yield the same, the left
    stream is stored first.

    *Cost.* O(1).

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> load = JoinLoad(0.01, 200, 50, left_window=10, right_window=10)
    >>> best = probe_no_insert(1, load, costs=Costs(update=0.002, match=0.0005))
    >>> round(best.left, 6), round(best.right, 6), round(best.results, 6)
    (0.444444, 1.0, 1444.444444)
    """
    not_negative("work", work)
    gains = load.meetings * load.left_window, load.meetings * load.right_window
    stored = load.left_rate, load.right_rate
    yields = load.right_rate * load.left_window, load.left_rate * load.right_window
    chances = [1.0, 1.0]
    rest = work
    for side in (0, 1) if yields[0] >= yields[1] else (1, 0):
        needed = stored[side] * costs.update + gains[side] * costs.match
        if needed > rest * FITS:
            chances[side] = rest / needed
        rest = max(0.0, rest - needed)
    return predicted_shedding("probe_no_insert", load, *chances, costs=costs)


def _balanced(work: float, both: float, update: float) -> float:
    """Root of ``both * rate**2 + 2 * update * rate = work``, without cancellation."""
    divisor = update + sqrt(update**2 + both * work)
    return work / divisor if divisor > 0 else 0.0
