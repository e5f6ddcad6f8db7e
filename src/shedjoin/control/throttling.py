"""Computes the share of the work with which micro-batches stay within their time."""

from __future__ import annotations

from typing import NamedTuple

from shedjoin.models.costs import Costs, Seconds, Work
from shedjoin.spec.throttle import Throttle

_LEAST = 0.001
_HARMLESS = 0.1
"""The throttle may open to this share at once, since so little work does no harm."""
_FURTHEST = 20.0
"""The throttle closes by at most this factor at a time: before rows were shed, it is
not known which part of the time shedding saves."""
_JOINING = 0.1
"""Part of the target that joining may always take, even if reading, packing and
shuffling alone exceed the target. Shedding this work as well would save little time,
and all results would be lost."""
_AIM = 0.9
"""Part of the target at which the throttle aims. Since times vary, aiming at the target
itself would exceed it every other time."""
_NEAR = 0.1
"""If a time differs from the target by no more than this part, the throttle stays."""


class Observed(NamedTuple):
    """One micro-batch as the driver saw it."""

    seconds: float
    work: Work
    exact: Work
    """Estimate of the work that it would have had if no row had been shed."""

    rows_per_second: float
    """Rate at which rows arrived, not at which they were joined."""

    share: float
    """Share of the throttle that was in force."""


class Throttling:
    """Adapts the throttle so that micro-batches take no longer than they may.

    Parameters
    ----------
    boost : float, default 2.0
        The throttle opens by at most this factor at a time. Rows that were not stored
        while it was closed are still missing. So the work for results rises only after
        some time, and the driver cannot measure it before.
    costs : Costs, optional
        Costs that were measured before.

    Notes
    -----
    *Source.* Operator throttling, section 3 of [1]_: a throttle fraction z, and a boost
    factor by which it rises again.

    *Departures.* The paper divides z by the ratio of the input rate to the rate that
    the join can process. Here z is computed from learned costs, including those that
    shedding cannot save. If these costs are right, one step is enough. The aim is a
    little below the target. If a micro-batch takes nearly the target, z does not
    change. The throttle may open to a tenth at once, and closes by at most a factor of
    20.

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
        """The learned costs of work."""
        return self._costs.seconds()

    def adapt(self, seen: Observed, target: float, interval: float) -> Throttle | None:
        """Learn from a micro-batch; return the next throttle, or None to keep it.

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
    """Round to four significant digits, since a part may be a thousandth."""
    return float(f"{part:.4g}")
