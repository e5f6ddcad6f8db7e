"""How open the throttle should be: time between micro-batches into a share of work."""

from __future__ import annotations

from typing import NamedTuple

from shedjoin.models.costs import Costs, Seconds, Work
from shedjoin.spec.throttle import Throttle

_LEAST = 0.001
_NEAR = 0.1
"""Times so near to the target, as part of it, are left alone."""


class Observed(NamedTuple):
    """One micro-batch as the driver saw it."""

    seconds: float
    work: Work
    exact: float
    """Results that it would have had with nothing shed, as estimated."""

    rows_per_second: float
    """Rows that arrived, not those that were done."""

    share: float
    """That of the throttle in force."""


class Throttling:
    """Adapts the throttle so that micro-batches take the time they may.

    Parameters
    ----------
    boost : float, default 2.0
        The throttle opens by at most this factor at a time: what was not stored while
        it was closed brings its results only later.
    prior : Costs, optional
        Costs known before.

    Notes
    -----
    *Source.* Operator throttling, section 3 of [1]_: a throttle fraction z, and a boost
    factor by which it rises again.

    *Departures.* The paper divides z by how far input outruns the join. Here z is
    solved from learned costs, which also know what shedding cannot save, so that one
    step is enough where they are right; and it is left alone near the target.

    References
    ----------
    .. [1] B. Gedik, K.-L. Wu, P. S. Yu, L. Liu, "A Load Shedding Framework and
       Optimizations for M-way Windowed Stream Joins", ICDE 2007.
    """

    def __init__(self, boost: float = 2.0, costs: Costs | None = None) -> None:
        self._boost = boost
        self._costs = costs or Costs()

    @property
    def costs(self) -> Seconds:
        """What work costs, as learned."""
        return self._costs.seconds()

    def adapt(self, seen: Observed, target: float, interval: float) -> Throttle | None:
        """Learn from a micro-batch; tell the next throttle, or None to leave it.

        ``interval`` is the least time between the starts of two micro-batches.
        """
        self._costs.observe(seen.work, seen.seconds)
        if abs(seen.seconds - target) <= _NEAR * target:
            return None
        if seen.share == 1.0 and seen.seconds < target:
            return None
        costs = self.costs
        rows = seen.rows_per_second * max(interval, target)
        results = rows * seen.exact / max(seen.work.rows, 1.0)
        all_work = costs.of(Work(0, 0, rows, results))
        left = target - costs.unsaved(rows)
        share = left / all_work if all_work > 0 else 1.0
        share = min(max(share, _LEAST), 1.0, self._boost * max(seen.share, _LEAST))
        if share < 1.0 and abs(share - seen.share) <= _NEAR / 2 * seen.share:
            return None
        unit = costs.update + costs.match
        return Throttle(
            share=round(share, 4),
            update=round(costs.update / unit, 4) if unit else 1.0,
            match=round(costs.match / unit, 4) if unit else 1.0,
        )
