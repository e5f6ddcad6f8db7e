"""Harvests by a price of work, for all arrivals or a part of them."""

from __future__ import annotations

from shedjoin.plan.harvest import (
    Harvest,
    harvest_by_chance,
    predicted_harvest,
    whole_harvest,
)
from shedjoin.plan.harvest_direction import Direction
from shedjoin.plan.harvest_load import HarvestLoad
from shedjoin.plan.model import FITS, not_negative

_HALVINGS = 20


def harvest_by_price(work: float, load: HarvestLoad) -> Harvest:
    """Choose basic windows that are worth their work, at the price that uses all of it.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons.
    load : HarvestLoad
        The join.

    Returns
    -------
    Harvest
        Basic windows that are worth their work, and the probability of probing them.

    Notes
    -----
    *Source.* None. [1]_ adds basic windows one at a time while they fit, for all
    arrivals. This function searches for a price of work, in results. At each price,
    every hop of a direction has its best number of basic windows, and a direction that
    costs more than it yields is off. At the lowest price, the whole join is worth its
    work. At the highest price, nothing is. The price that is used is the highest at
    which the basic windows take more work than is allowed. Arrivals probe them only
    with a probability, so that the work fits. So no work is spent on poor basic windows
    just because it is left over.

    *Guarantee.* Let all arrivals probe: no other counts then have more results for the
    same work. Results are never fewer than with ``harvest_by_chance``.

    *Cost.* O(m^2 n) for m streams with n basic windows, 20 times.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    If nothing is known about lags, a part of the arrivals probes everything:

    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([10, 10], [10, 10], [[1], [0]], [[0, 0.1], [0.1, 0]],
    ...                    flat_scores([4, 4]))
    >>> found = harvest_by_price(500, load)
    >>> found.counts, found.chance, found.recall
    (((4,), (4,)), 0.25, 0.25)
    """
    not_negative("work", work)
    if load.work <= work * FITS:
        return whole_harvest(load)
    price = price_of_work(work, load)
    counts = []
    for direction in load.directions:
        worth_it = direction.worthwhile(price).work > 0
        off = (0,) * len(direction.rows)
        counts.append(direction.best_at(price) if worth_it else off)
    found = predicted_harvest(load, counts)
    if found.work > work * FITS:
        found = predicted_harvest(load, counts, chance=work / found.work)
    return max(found, harvest_by_chance(work, load), key=lambda each: each.results)


def price_of_work(work: float, load: HarvestLoad) -> float:
    """Price of work, in results, at which about as much is done as ``work`` allows.

    Work is worth doing if it brings at least this many results per unit. The value
    returned is just below the price at which the work fits. So the work that is worth
    it takes a little more than is allowed, or exactly as much.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad([10, 10], [10, 10], [[1], [0]], [[0, 0.1], [0.1, 0]],
    ...                    flat_scores([4, 4]))
    >>> round(price_of_work(500, load), 4), price_of_work(2000, load)
    (0.1, 0.0)
    """
    if load.work <= work * FITS:
        return 0.0
    low, high = 0.0, max(_best_ratio(each) for each in load.directions)
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        found = sum(each.worthwhile(price).work for each in load.directions)
        if found > work * FITS:
            low = price
        else:
            high = price
    return low


def _best_ratio(direction: Direction) -> float:
    results, work = direction.predicted(direction.best_ratio())
    return results / work if work > 0 else 0.0
