"""Greedy search for a good harvest within an amount of work."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Literal, NamedTuple

from shedjoin.errors import ParameterError
from shedjoin.plan.harvest import (
    Harvest,
    harvest_by_chance,
    predicted_harvest,
    whole_harvest,
)
from shedjoin.plan.harvest_direction import Direction, Yield
from shedjoin.plan.harvest_load import HarvestLoad
from shedjoin.plan.model import FITS, not_negative

Metric = Literal["delta", "results", "results_per_work"]
"""Criterion for the best step. ``delta``: the results that the step adds for each unit
of work that it adds. ``results``: the results of the whole join after the step.
``results_per_work``: the results of the whole join for each unit of its work."""

Side = Literal["grow", "shrink", "double"]
"""Where the search starts: no basic windows, all of them, or whichever is likely to
take fewer steps."""


class Step(NamedTuple):
    """One basic window more or less, or a whole direction that is added or removed."""

    direction: int
    hop: int
    change: Yield


_ALL_HOPS = -1

Score = Callable[[Yield, Yield], float]
"""Score of a change, given results and work of the join before it."""


def greedy_harvest(
    work: float,
    load: HarvestLoad,
    *,
    metric: Metric = "delta",
    side: Side = "double",
) -> Harvest:
    """Choose basic windows one by one, each time the best one that fits [1]_.

    Parameters
    ----------
    work : float
        Work that may be done per time unit, in comparisons; ``share * load.work`` for
        a throttle.
    load : HarvestLoad
        The join.
    metric : {"delta", "results", "results_per_work"}, default "delta"
        Criterion for the best step: most additional results per additional work, most
        results in total, or most results per work in total.
    side : {"grow", "shrink", "double"}, default "double"
        Add basic windows to none, remove them from all, or do whichever takes fewer
        steps.

    Returns
    -------
    Harvest
        How many basic windows each direction joins.

    Notes
    -----
    *Source.* GREEDYPICK, Figure 5 and section 5.1 of [1]_; greedy reverse and
    double-sided, section 6.1.

    *Symbols.* "delta" is BestDeltaOutputPerDeltaCost, "results" BestOutput and
    "results_per_work" BestOutputPerCost. ``work`` is z C(1).

    *Departures.* Two misprints of the paper are corrected: lines 31 and 32 add d_ij,
    where d_uj and d_uv are meant, and EVAL uses r, where z is meant. Line 17 of the
    paper ends the search when no step adds results. Here, work that is left is spent on
    further basic windows, the cheapest first, because scores are estimates. If work is
    left after basic windows were removed, some are added. "double" chooses by the
    number of steps, as the paper does, and not by the results. For the load of the
    example below and 0.75 of the work, "double" finds 165 results, and "grow" finds
    180, which is the optimum. If one basic window of each hop is too much work, the
    paper finds nothing. Here ``harvest_by_chance`` is used.

    *Guarantee.* None, since it is a heuristic. The following ratios compare the results
    of "delta" with those of the optimum. For m = 3 streams of n = 10 basic windows, the
    mean ratio is at least 0.98 if ``work`` is at least 0.4 of the whole work, and at
    least 0.95 if it is 0.1 of the whole work. In single cases at 0.2, the ratio falls
    to 0.56. More streams have lower ratios. With m = 5 and n = 20, some ten joins had
    ratios of 0.93 to 0.96 at 0.25 of the whole work, and of 0.84 to 0.9 at 0.05.

    *Cost.* O(n m^4) for m streams with n basic windows; for m = 5 and n = 20 some
    milliseconds.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> from shedjoin.plan import flat_scores
    >>> load = HarvestLoad(
    ...     rates=[10, 20, 30],
    ...     windows=[10, 10, 10],
    ...     orders=[[1, 2], [2, 0], [1, 0]],
    ...     selectivities=[[0, 0.01, 0.02], [0.01, 0, 0.005], [0.02, 0.005, 0]],
    ...     scores=flat_scores([2, 2, 2]),
    ... )
    >>> found = greedy_harvest(0.5 * load.work, load)
    >>> found.counts, round(found.results, 6)
    (((2, 2), (0, 0), (1, 2)), 150.0)
    """
    not_negative("work", work)
    if metric not in _GAINS:
        raise ParameterError(
            f"metric={metric!r} is not known.", fix=f"pass one of {list(_GAINS)!r}."
        )
    if side not in ("grow", "shrink", "double"):
        raise ParameterError(
            f"side={side!r} is not known.", fix="pass 'grow', 'shrink' or 'double'."
        )
    if load.work <= work * FITS:
        return whole_harvest(load)
    search = _Search(load.directions, work * FITS)
    halves = 0.5 ** ((len(load.directions) - 1) / 2)
    if side == "shrink" or (side == "double" and work > halves * load.work):
        search.shrink(_LOSSES[metric])
    search.grow(_GAINS[metric])
    found = predicted_harvest(load, search.counts)
    return found if found.results > 0 else harvest_by_chance(work, load)


class _Search:
    """Counts that change step by step; only a changed direction is evaluated again."""

    def __init__(self, directions: tuple[Direction, ...], limit: float) -> None:
        self.directions = directions
        self.limit = limit
        self.counts = [[0] * len(direction.rows) for direction in directions]
        self.yields = [Yield(0.0, 0.0)] * len(directions)

    @property
    def total(self) -> Yield:
        return Yield(
            sum(found.results for found in self.yields),
            sum(found.work for found in self.yields),
        )

    def grow(self, score: Score) -> None:
        """Add basic windows as long as one fits.

        A step that does not fit now will never fit. Other steps do not make it cheaper,
        and they leave less work.
        """
        steps = [self._additions(i) for i in range(len(self.directions))]
        while True:
            total = self.total
            left = self.limit - total.work
            best, highest = None, (-1.0, 0.0)
            for i, options in enumerate(steps):
                fitting = [step for step in options if step.change.work <= left]
                steps[i] = fitting
                for step in fitting:
                    scored = score(total, step.change), -step.change.work
                    if scored > highest:
                        best, highest = step, scored
            if best is None:
                return
            self._take(best, 1)
            steps[best.direction] = self._additions(best.direction)

    def shrink(self, score: Score) -> None:
        """Start with all basic windows, and remove some until the rest fits."""
        self.counts = [list(direction.whole) for direction in self.directions]
        self.yields = [
            direction.predicted(direction.whole) for direction in self.directions
        ]
        steps = [self._removals(i) for i in range(len(self.directions))]
        while (total := self.total).work > self.limit:
            best, highest = None, (-inf, 0.0)
            for options in steps:
                for step in options:
                    scored = score(total, step.change), step.change.work
                    if scored > highest:
                        best, highest = step, scored
            if best is None:
                return
            self._take(best, -1)
            steps[best.direction] = self._removals(best.direction)

    def _additions(self, i: int) -> list[Step]:
        counts = self.counts[i]
        if counts[0] > 0:
            changes = self.directions[i].steps(counts)
            return [Step(i, hop, change) for hop, change in enumerate(changes)]
        return [Step(i, _ALL_HOPS, self.directions[i].predicted([1] * len(counts)))]

    def _removals(self, i: int) -> list[Step]:
        counts = self.counts[i]
        if max(counts) > 1:
            changes = self.directions[i].steps(counts, -1)
            return [
                Step(i, hop, change)
                for hop, change in enumerate(changes)
                if counts[hop] > 1
            ]
        return [Step(i, _ALL_HOPS, self.yields[i])] if counts[0] else []

    def _take(self, step: Step, by: int) -> None:
        counts = self.counts[step.direction]
        for hop in range(len(counts)) if step.hop == _ALL_HOPS else (step.hop,):
            counts[hop] += by
        self.yields[step.direction] = self.directions[step.direction].predicted(counts)


def _ratio(results: float, work: float) -> float:
    return results / work if work > 0 else 0.0


_GAINS: dict[str, Score] = {
    "delta": lambda _, change: _ratio(*change),
    "results": lambda _, change: change.results,
    "results_per_work": lambda total, change: _ratio(
        total.results + change.results, total.work + change.work
    ),
}
_LOSSES: dict[str, Score] = {
    "delta": lambda _, change: -_ratio(*change),
    "results": lambda _, change: -change.results,
    "results_per_work": lambda total, change: _ratio(
        total.results - change.results, total.work - change.work
    ),
}
