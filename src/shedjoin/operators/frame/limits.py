"""Rules that all joins with a budget follow: usable memory, pace of work and clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shedjoin.spec.budget import Budget

USABLE = 0.8
"""Part of a budget in bytes that residents may use. The rest is for free slots, and for
dropped rows that are still in segments. So a segment need not be rewritten for every
row that is shed."""
TYPICAL_ROW_BYTES = 256
"""Size that is assumed for a row until the first row has come."""


def usable_of(budget: Budget, share: int) -> int:
    """Part of a shard's share of the budget that residents may use.

    >>> usable_of(Budget(memory="1 kB"), 1000), usable_of(Budget(rows=1000), 1000)
    (800, 1000)
    """
    return int(USABLE * share) if budget.in_bytes else share


class Paced(NamedTuple):
    """Recent work under a throttle: work that was done, and work that was planned."""

    done: float = 0.0
    meant: float = 0.0

    def ratio(self, least: float, most: float) -> float:
        """Work done divided by work planned, limited to ``least`` and ``most``.

        The ratio can differ from 1, because work is planned by estimates of matches.

        >>> Paced(3.0, 2.0).ratio(0.5, 2.0), Paced(9.0, 2.0).ratio(0.5, 2.0)
        (1.5, 2.0)
        """
        found = self.done / self.meant if self.meant > 0 else 1.0
        return min(max(found, least), most)


def advanced(clock: int, latest: Sequence[int], reached: int, lead: int) -> int:
    """Clock of a shard after rows have come.

    The clock is the greatest time in ``latest``, but at most ``lead`` ahead of the time
    that all streams have ``reached``. So one row with a time far in the future does not
    make all other rows old. The clock never goes back.

    >>> advanced(5, [9, 100], reached=9, lead=3), advanced(20, [9, 100], 9, 3)
    (12, 20)
    """
    return max(clock, min(max(latest), reached + lead))
