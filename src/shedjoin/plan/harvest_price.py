"""Harvests by a price of work: the results that each unit of work must bring."""

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
    """Choose the basic windows whose results are worth their work, until it is used up.

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
    arrivals. This function searches for a *price*: the number of results that each unit
    of work must bring. At a given price, each direction joins the numbers of basic
    windows for which ``results - price * work`` is greatest. If this difference is not
    above 0, its arrivals do not probe at all. The higher the price, the less work is
    done.
    The price that is used is the highest at which the work is still more than is
    allowed. Arrivals then probe the chosen basic windows only with a probability, so
    that the work fits. So no work is spent on poor basic windows only because it is
    left over.

    *Guarantee.* If all arrivals probed the chosen basic windows, no other choice would
    have more results for the same work. Results are never fewer than with
    ``harvest_by_chance``.

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
    """Number of results that each unit of work must bring, so that the work fits.

    The higher this price, the less work is worth doing. The value returned is just
    below the price at which the work fits. So the work that is worth doing is a little
    more than ``work``, or exactly as much. If all work fits, the price is 0.

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
