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
    """Decides which work a join by predicates does while a throttle is in force."""

    __slots__ = ()

    by_predicates: ClassVar[bool] = True

    @property
    def family(self) -> Family:
        """Family of the policies that save work of joins by predicates."""
        return "harvesting"

    @property
    def shreds(self) -> float:
        """Part of the work for arrivals that meet all residents, to learn from them."""
        return 0.1

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest | None:
        """Choose the lag buckets that arrivals are compared with; None is all."""

    def chances(self, work: float, load: plan.HarvestLoad) -> tuple[float, ...] | None:
        """Probability that arrivals of each stream take part at all; None is 1."""


@dataclass(frozen=True, slots=True)
class Harvest(PredicatePolicy):
    """Compare arrivals only with residents of the ages at which most matches are found.

    The policy of a CPU budget of a join by predicates, unless ``keep=`` names another
    one. All rows are stored. An arrival is compared with the rows in some lag buckets
    of each other stream.

    Parameters
    ----------
    metric : {"delta", "results", "results_per_work"}, default "delta"
        Criterion by which the next lag bucket is chosen, as in ``plan.greedy_harvest``.
    shred : float, default 0.1
        Part of the work for arrivals, chosen by a hash, that are compared with all
        residents. Lags are learned from them. Above 0, at most 0.5.

    Notes
    -----
    *Source.* GrubJoin [1]_: window harvesting, section 4; the greedy heuristic, section
    5.1; window shredding, section 5.2.

    *Symbols.* A lag bucket is a basic window of the paper, ``shred`` its sampling
    parameter omega times the throttle fraction z.

    *Departures.* Selectivities and lags are learned for each direction and hop, in the
    order in which the streams are joined. One histogram for each stream, as in the
    paper, would hide directions that find nothing. Lags may be below 0, if the arrival
    is the older row. The paper's omega is a part of the arrivals, which would take all
    the work at a small z. Beside the greedy harvest, a harvest by the price of work is
    tried: a part of the arrivals is compared with all buckets that are worth their
    work. If neither promises a tenth more results than random arrivals would have, a
    random part of the arrivals is compared with all buckets. Orders are compared by
    what they find with the available work, not by selectivity alone. The work that was
    done is compared with the throttle, and a difference is made up for. Rows are kept
    until they expire. Section 7 of the paper would drop those that no direction selects
    any more. But arrivals are learned from by comparing them with all rows, and all
    rows are needed as soon as the throttle opens.

    *Guarantee.* None: a heuristic. Results are a part of those of the exact join. While
    the throttle is open, they are all of them.

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
        """Part of the work for arrivals that meet all residents, to learn from them."""
        return self.shred

    def harvest(self, work: float, load: plan.HarvestLoad) -> plan.Harvest:
        """Choose lag buckets by the greedy heuristic, or by the price of work.

        The greedy heuristic chooses whole buckets for all arrivals. The price of work
        chooses buckets that are worth their work, for a part of the arrivals. That
        often gives more results.
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
    *Source.* RandomDrop, section 6.2 of [1]_; ``plan.random_drop`` has the optimum.

    *Symbols.* The chance of a stream is 1 less the drop rate of [1]_.

    *Departures.* Rates and selectivities are learned from the rows that are left.

    *Guarantee.* Most results, in expectation, of all policies that drop rows of a
    stream with one probability, if the learned rates and selectivities are right.

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
        """Probabilities of the streams that give most results with this work."""
        from shedjoin import plan

        return plan.random_drop(work, load).chances
