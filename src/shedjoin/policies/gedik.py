"""Policies of Gedik et al. (2007) for joins by predicates that have too little CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from shedjoin.errors import ParameterError
from shedjoin.policies.base import Policy
from shedjoin.spec.capabilities.asked import Family

if TYPE_CHECKING:  # plans need scipy, which most joins do without
    from shedjoin import plan

Metric = Literal["delta", "results", "results_per_work"]
"""Those of ``plan.greedy_harvest``."""


class PredicatePolicy(Policy):
    """Which work a join by predicates does while a throttle allows less than all."""

    __slots__ = ()

    by_predicates: ClassVar[bool] = True

    @property
    def family(self) -> Family:
        """It saves the work of joins by predicates."""
        return "harvesting"

    @property
    def shreds(self) -> float:
        """Part of the work of arrivals that look at everything and are learned from."""
        return 0.1

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest | None:
        """Choose lag buckets that arrivals look at; None is all."""

    def chances(self, work: float, load: plan.HarvestLoad) -> tuple[float, ...] | None:
        """Chance of the arrivals of each stream to take part at all; None is 1."""


@dataclass(frozen=True, slots=True)
class Harvest(PredicatePolicy):
    """Look only at residents of those ages at which most matches are found.

    What a CPU budget of a join by predicates does unless ``keep=`` names another. All
    rows are stored; an arrival looks into some lag buckets of each other stream.

    Parameters
    ----------
    metric : {"delta", "results", "results_per_work"}, default "delta"
        What the next lag bucket is chosen by, as in ``plan.greedy_harvest``.
    shred : float, default 0.1
        Part of the work that goes to arrivals, chosen by a hash, that look at all
        residents; lags are learned from them. Above 0, at most 0.5.

    Notes
    -----
    *Source.* GrubJoin [1]_: window harvesting, section 4; the greedy heuristic, section
    5.1; window shredding, section 5.2.

    *Symbols.* A lag bucket is a basic window of the paper, ``shred`` its sampling
    parameter omega times the throttle fraction z.

    *Departures.* Selectivities and lags are learned by direction and hop, in the order
    in which the streams are met, and not from one histogram for each stream: directions
    that find nothing are seen. Lags may be below 0, where the arrival is the older row.
    The paper's omega is a part of the arrivals; at a small z they would take all the
    work. Beside the greedy harvest one by the price of work is tried, where a part of
    the arrivals looks into buckets that are worth it. Where neither promises a tenth
    more results than chance, all buckets are looked into by a part of the arrivals.
    Orders are compared by what they find with the work that there is, not by
    selectivity alone. What was done in the end is compared with the throttle and made
    up for.

    *Guarantee.* None: a heuristic. Results are a part of those of the exact join, and
    with the throttle open all of them.

    *Cost.* Some milliseconds for each shard and micro-batch.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> Harvest()
    Harvest(metric='delta', shred=0.1)
    >>> Harvest(shred=0.0)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Harvest(shred=0.0) is not above 0 and at most 0.5.
    Fix: pass the part of the work to learn from, e.g. shred=0.1.
    """

    metric: Metric = "delta"
    shred: float = 0.1

    def __post_init__(self) -> None:
        if self.metric not in ("delta", "results", "results_per_work"):
            raise ParameterError(
                f"Harvest(metric={self.metric!r}) is not known.",
                fix='pass metric="delta", "results" or "results_per_work".',
            )
        known = isinstance(self.shred, int | float)
        if not known or not 0 < self.shred <= 0.5:  # noqa: PLR2004
            raise ParameterError(
                f"Harvest(shred={self.shred!r}) is not above 0 and at most 0.5.",
                fix="pass the part of the work to learn from, e.g. shred=0.1.",
            )

    @property
    def shreds(self) -> float:
        """Part of the work of arrivals that look at everything and are learned from."""
        return self.shred

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest:
        """Choose lag buckets by the greedy heuristic, or by the price of work.

        The greedy one fits whole buckets for all arrivals; buckets that are worth their
        work, for a part of the arrivals, are often better.
        """
        from shedjoin import plan

        greedy = plan.greedy_harvest(work, load, metric=self.metric)
        priced = plan.harvest_by_price(work, load)
        return max(greedy, priced, key=lambda found: found.results)


@dataclass(frozen=True, slots=True)
class RandomDrop(PredicatePolicy):
    """Drop arrivals of each stream at random, so that most results are found.

    A baseline for ``Harvest``. Rows that are dropped neither look nor are stored.

    Notes
    -----
    *Source.* RandomDrop, section 6.2 of [1]_; ``plan.random_drop`` has the optimum.

    *Symbols.* The chance of a stream is 1 less the drop rate of [1]_.

    *Departures.* Rates and selectivities are learned from what is left.

    *Guarantee.* Most results of all chances by stream, in expectation, if what is
    learned is right.

    *Cost.* Some milliseconds for each shard and micro-batch.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "GrubJoin: An Adaptive Multi-Way
       Windowed Stream Join with Time Correlation-Aware CPU Load Shedding", Georgia
       Institute of Technology, technical report.

    Examples
    --------
    >>> RandomDrop()
    RandomDrop()
    """

    def chances(self, work: float, load: plan.HarvestLoad) -> tuple[float, ...]:
        """Chances of the streams that find most results with this work."""
        from shedjoin import plan

        return plan.random_drop(work, load).chances
