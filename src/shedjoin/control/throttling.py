"""How open the throttle should be: time between micro-batches into a share of work."""

from __future__ import annotations

from typing import NamedTuple

from shedjoin.models.costs import Costs, Seconds, Work
from shedjoin.spec.throttle import Throttle

_LEAST = 0.001
_HARMLESS = 0.1
"""Up to here it opens at once: that little work cannot do much damage."""
_FURTHEST = 20.0
"""It closes by at most this factor at a time: before anything was shed, nobody knows
which part of the time shedding saves."""
_JOINING = 0.1
"""So much of the target is left to joining, whatever all else takes: to shed everything
would save no more than that, and lose every result."""
_AIM = 0.9
"""Times vary: who aims at the target is late every other time."""
_NEAR = 0.1
"""Times so near to the target, as part of it, are left alone."""


class Observed(NamedTuple):
    """One micro-batch as the driver saw it."""

    seconds: float
    work: Work
    exact: Work
    """The work that it would have had with nothing shed, as estimated."""

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
    step is enough where they are right; and it is left alone near the target. It aims a
    little below, opens at once to a tenth, and closes by at most a factor of 20.

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
        each = rows / max(seen.work.rows, 1.0)
        updates, results = seen.exact.updates, seen.exact.results
        all_work = costs.of(Work(0, 0, each * updates, each * results))
        left = max(_AIM * target - costs.unsaved(rows), _JOINING * target)
        share = left / all_work if all_work > 0 else 1.0
        least = max(seen.share / _FURTHEST, _LEAST)
        share = min(max(share, least), 1.0, max(self._boost * seen.share, _HARMLESS))
        near = abs(share - seen.share) <= _NEAR / 2 * seen.share
        if share == seen.share or (near and share < 1.0):
            return None
        unit = costs.update + costs.match
        return Throttle(
            share=round(share, 4),
            update=_rounded(costs.update / unit) if unit else 1.0,
            match=_rounded(costs.match / unit) if unit else 1.0,
        )


def _rounded(part: float) -> float:
    """To four digits: of a join by predicates one part is a thousandth of the other."""
    return float(f"{part:.4g}")
