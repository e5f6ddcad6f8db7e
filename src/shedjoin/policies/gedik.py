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
"""Metrics of ``plan.greedy_harvest``."""


class PredicatePolicy(Policy):
    """Decides which work a join by predicates does while a throttle is active."""

    __slots__ = ()

    by_predicates: ClassVar[bool] = True

    @property
    def family(self) -> Family:
        """Family of the policies that save work of joins by predicates."""
        return "harvesting"

    @property
    def shreds(self) -> float:
        """Part of the work that is spent on shredded arrivals."""
        return 0.1

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest | None:
        """Choose the lag buckets that arrivals are compared with; None means all."""

    def chances(self, work: float, load: plan.HarvestLoad) -> tuple[float, ...] | None:
        """Probability that arrivals of each stream take part; None means 1."""


@dataclass(frozen=True, slots=True)
class Harvest(PredicatePolicy):
    """Compare arrivals only with residents of the ages at which most matches are found.

    This is the policy of a CPU budget in a join by predicates, unless ``keep=`` names
    another one. All rows are stored. An arrival is compared only with the residents
    whose lags are in the chosen lag buckets.

    Parameters
    ----------
    metric : {"delta", "results", "results_per_work"}, default "delta"
        Criterion by which the next lag bucket is chosen, as in ``plan.greedy_harvest``.
    shred : float, default 0.1
        Part of the work that is spent on shredded arrivals: a hash selects arrivals to
        be compared with all residents, so that lags are learned from them. It must be
        above 0 and at most 0.5.

    Notes
    -----
    *Source.* GrubJoin [1]_: window harvesting in section 4, the greedy heuristic in
    section 5.1, window shredding in section 5.2.

    *Symbols.* A lag bucket is a basic window of the paper. The paper's sampling
    parameter omega is ``shred`` times the throttle fraction z.

    *Departures.*

    - Selectivities and lags are learned for each hop of each direction. The paper has
      one histogram for each stream, which would hide directions that find nothing. If
      the arrival is the older row, its lag is below 0.
    - The paper fixes omega, a part of the arrivals. With a small z, shredded arrivals
      would then take all the work. Here they take a fixed part of the work.
    - In addition to the greedy harvest, a harvest by price is computed: a part of the
      arrivals is compared with all buckets that bring enough results for their work.
      The better harvest is used if it is expected to have a tenth more results than a
      random part of the arrivals that is compared with all buckets. Otherwise, this
      random part is used.
    - Orders of the streams are compared by the results that they find with the
      available work, not by selectivity alone.
    - The work that was done is compared with the throttle. If it was more or less than
      allowed, later work makes up for the difference.
    - Rows are kept until they expire. Section 7 of the paper drops rows that no
      direction selects any more. Here these rows are needed: for shredded arrivals, and
      for all arrivals when the throttle opens.

    *Guarantee.* None, since it is a heuristic. All results are results of the exact
    join. Without an active throttle, no results are missing.

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
        """Part of the work that is spent on shredded arrivals."""
        return self.shred

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest:
        """Choose lag buckets by the greedy heuristic or by price.

        The greedy heuristic chooses buckets with which all arrivals are compared. The
        choice by price compares only a part of the arrivals, but with all buckets that
        bring enough results for their work. The choice with more expected results is
        returned.
        """
        from shedjoin import plan

        greedy = plan.greedy_harvest(work, load, metric=self.metric)
        priced = plan.harvest_by_price(work, load)
        return max(greedy, priced, key=lambda found: found.results)


@dataclass(frozen=True, slots=True)
class RandomDrop(PredicatePolicy):
    """Drop random arrivals of each stream, in proportions that give most results.

    A baseline for ``Harvest``. Rows that are dropped are neither joined nor stored.

    Notes
    -----
    *Source.* RandomDrop, section 6.2 of [1]_. ``plan.random_drop`` computes the best
    chances.

    *Symbols.* The chance of a stream is 1 minus its drop rate in [1]_.

    *Departures.* Rates and selectivities are learned from the rows that are not
    dropped.

    *Guarantee.* If the learned rates and selectivities are right, this policy has the
    most expected results of all policies that drop every row of a stream with the same
    probability.

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
        """Probability of each stream, such that this work brings the most results."""
        from shedjoin import plan

        return plan.random_drop(work, load).chances
