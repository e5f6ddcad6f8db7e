"""Computes the best harvest of windows within an amount of work."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shedjoin.errors import ParameterError
from shedjoin.plan.harvest import (
    Harvest,
    harvest_by_chance,
    predicted_harvest,
    whole_harvest,
)
from shedjoin.plan.harvest_direction import Direction
from shedjoin.plan.harvest_greedy import Side, greedy_harvest
from shedjoin.plan.harvest_load import HarvestLoad
from shedjoin.plan.model import FITS, FloatArray, not_negative
from shedjoin.types import IntArray

_MOST = 4_000_000
"""Limit of the options that are compared at a time. That many take a few hundred
megabytes and a few seconds."""

_ROUNDED = 1e-9
"""Relative tolerance: an option that is below a bound by less than this may be the
best."""

_HALVINGS = 60
_SIDES: tuple[Side, ...] = ("grow", "shrink")


class Options(NamedTuple):
    """Ways to harvest, in the order of rising work and results.

    ``choices`` has a row for each option.
    """

    results: FloatArray
    work: FloatArray
    choices: npt.NDArray[np.int64]

    def take(self, kept: IntArray | npt.NDArray[np.bool_]) -> Options:
        """Select options, in the order given."""
        return Options(self.results[kept], self.work[kept], self.choices[kept])


def best_harvest(work: float, load: HarvestLoad) -> Harvest:
    """Choose the basic windows with the most results within the work [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons. For a throttle, it is
        ``share * load.work``.
    load : HarvestLoad
        The join.

    Returns
    -------
    Harvest
        How many basic windows each direction joins.

    Notes
    -----
    *Source.* The optimal window harvesting problem, section 4.2.2 of [1]_. Section 4.4
    of [1]_ solves it by brute force.

    *Symbols.* ``work`` is z C(1).

    *Departures.* Results and work add up over directions. So it is not necessary to try
    all n^(m(m-1)) configurations. Each direction has n^(m-1) options, and one to find
    nothing. An option is left out if another has as many results with less work. It is
    also left out if it cannot belong to the best harvest. This follows from Lagrange's
    bound and from the results of ``greedy_harvest``. If one basic window of each hop is
    too much work, ``harvest_by_chance`` is used.

    *Guarantee.* Most results among all choices of whole basic windows. If several
    choices have equally many, the one with the least work is taken. Loads with too many
    options are refused.

    *Cost.* With m = 3 streams and n = 10 basic windows, milliseconds. With m = 5 and
    n = 20, 0.02 to 1.5 seconds. In general, the cost is exponential in m.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.lab.plan import flat_scores
    >>> load = HarvestLoad(
    ...     rates=[10, 20, 30],
    ...     windows=[10, 10, 10],
    ...     orders=[[1, 2], [2, 0], [1, 0]],
    ...     selectivities=[[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]],
    ...     scores=flat_scores([2, 2, 2]),
    ... )
    >>> found = best_harvest(0.75 * load.work, load)
    >>> found.counts, round(found.results, 6)
    (((2, 2), (0, 0), (2, 2)), 180.0)
    """
    not_negative("work", work)
    if load.work <= work * FITS:
        return whole_harvest(load)
    limit = work * FITS
    tables = [_options(direction, limit) for direction in load.directions]
    tries = [greedy_harvest(work, load, side=side) for side in _SIDES]
    found = max(tried.results if tried.chance == 1.0 else 0.0 for tried in tries)
    price, bound = _lagrange(tables, work)
    slack = bound - found + _ROUNDED * bound
    best = _merged(tables, limit, price, slack)
    if not best.results[-1] > 0:
        return harvest_by_chance(work, load)
    chosen = best.choices[-1].tolist()
    return predicted_harvest(
        load,
        [
            table.choices[choice].tolist()
            for table, choice in zip(tables, chosen, strict=True)
        ],
    )


def _options(direction: Direction, limit: float) -> Options:
    """Unbeaten counts of a direction, and the option to find nothing.

    Counts are unbeaten if all others with as little work have fewer results. They are
    built from the last hop to the first. Unbeaten counts of all hops consist of
    unbeaten counts for each hop and those that follow it.
    """
    least = [1.0, *accumulate((growth[1] for growth in direction.growth), mul)]
    made = Options(
        np.ones(1), np.full(1, direction.result_cost), np.empty((1, 0), dtype=np.int64)
    )
    for hop in range(len(direction.rows) - 1, -1, -1):
        grown = np.array(direction.growth[hop][1:])
        _few_enough(grown.size * made.work.size, "counts of one direction")
        counts = np.arange(1, grown.size + 1)
        own = np.array([count * direction.rows[hop] for count in counts.tolist()])
        work = own[:, None] + np.outer(grown, made.work)
        choices = np.column_stack(
            (
                np.repeat(counts, made.work.size),
                np.tile(made.choices, (grown.size, 1)),
            )
        )
        made = Options(np.outer(grown, made.results).ravel(), work.ravel(), choices)
        made = made.take(direction.rate * least[hop] * made.work <= limit)
        made = _unbeaten(made)
    off = Options(
        np.zeros(1), np.zeros(1), np.zeros((1, len(direction.rows)), dtype=np.int64)
    )
    scaled = Options(direction.rate * made.results, direction.rate * made.work, made[2])
    return _unbeaten(
        Options(*(np.concatenate(columns) for columns in zip(off, scaled, strict=True)))
    )


def _unbeaten(options: Options) -> Options:
    """Options with more results than all others that take no more work."""
    by_work = np.lexsort((-options.results, options.work))
    results = options.results[by_work]
    highest = np.maximum.accumulate(results)
    more = np.ones(results.size, dtype=np.bool_)
    more[1:] = results[1:] > highest[:-1]
    return options.take(by_work[more])


def _lagrange(tables: list[Options], work: float) -> tuple[float, float]:
    """Price at which the best options of all tables just fit the work, and a bound.

    No harvest within the work has more results than the bound. At a price, the worth of
    an option is its results minus the price of its work. The bound is the sum of the
    greatest worth in each table, plus the price of all the work.
    """
    low = 0.0
    high = max(
        float(np.max(table.results[1:] / table.work[1:], initial=0.0))
        for table in tables
    )
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        used = sum(
            table.work[np.argmax(table.results - price * table.work)]
            for table in tables
        )
        low, high = (price, high) if used > work else (low, price)
    worths = (np.max(table.results - high * table.work) for table in tables)
    return high, float(high * work + sum(worths))


def _merged(tables: list[Options], limit: float, price: float, slack: float) -> Options:
    """Harvests of all directions that may be the best; choices are rows of the tables.

    If the worth of an option at the price is lower than the greatest worth in its
    table, any harvest with it is below the bound by this difference. A harvest that is
    below the bound by more than the slack cannot be the best.
    """
    made = Options(np.zeros(1), np.zeros(1), np.empty((1, 0), dtype=np.int64))
    reached = 0.0
    for table in tables:
        worth = table.results - price * table.work
        reached += float(worth.max())
        rows = np.flatnonzero(worth.max() - worth <= slack)
        _few_enough(rows.size * made.work.size, "harvests")
        results = np.add.outer(made.results, table.results[rows]).ravel()
        work = np.add.outer(made.work, table.work[rows]).ravel()
        kept = (work <= limit) & (reached - results + price * work <= slack)
        places = np.flatnonzero(kept)
        before, chosen = np.divmod(places, rows.size)
        choices = np.column_stack((made.choices[before], rows[chosen]))
        made = _unbeaten(Options(results[places], work[places], choices))
    return made


def _few_enough(options: int, what: str) -> None:
    if options > _MOST:
        raise ParameterError(
            f"The best harvest is one of too many: {options} {what} to compare, of at "
            f"most {_MOST}.",
            fix="use greedy_harvest, or cut windows into fewer basic windows.",
        )
