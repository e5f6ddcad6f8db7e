"""What a shard may hold, how fast it may work, and how its clock moves.

All operators under a budget follow these rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shedjoin.spec.budget import Budget

USABLE = 0.8
"""Part of a budget in bytes that residents may use. The rest is for rows that left
lately and for free slots, so that a segment need not be rewritten for every row that is
shed."""
TYPICAL_ROW_BYTES = 256
"""Size of a row, as long as none is known."""


def usable_of(budget: Budget, share: int) -> int:
    """Rows or bytes of a share that residents may use.

    >>> usable_of(Budget(memory="1 kB"), 1000), usable_of(Budget(rows=1000), 1000)
    (800, 1000)
    """
    return int(USABLE * share) if budget.in_bytes else share


class Paced(NamedTuple):
    """Work that was done under a throttle lately, and work that was meant."""

    done: float = 0.0
    meant: float = 0.0

    def ratio(self, least: float, most: float) -> float:
        """Work done over work meant; not 1, as expected matches are estimates.

        >>> Paced(3.0, 2.0).ratio(0.5, 2.0), Paced(9.0, 2.0).ratio(0.5, 2.0)
        (1.5, 2.0)
        """
        found = self.done / self.meant if self.meant > 0 else 1.0
        return min(max(found, least), most)


def advanced(clock: int, latest: Sequence[int], reached: int, lead: int) -> int:
    """Clock of a shard after rows have come.

    It is the greatest time seen, but at most the ``lead`` after the time that all
    streams have ``reached``. So a row from the far future does not make all others old.
    The clock never goes back.

    >>> advanced(5, [9, 100], reached=9, lead=3), advanced(20, [9, 100], 9, 3)
    (12, 20)
    """
    return max(clock, min(max(latest), reached + lead))
