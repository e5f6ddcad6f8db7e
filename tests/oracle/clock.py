"""The time that shedding goes by, slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.shedding import Arrival


class Clock:
    """Tells the time after arrivals.

    Without a lead it is theirs. With one it is the greatest time seen, but at most the
    lead after the greatest time that both streams have reached; before anything came
    from one of them, it counts as having reached the time of the very first arrival.
    """

    def __init__(self, lead: float | None) -> None:
        self._lead = lead
        self._seen: tuple[list[float], list[float]] = ([], [])
        self._now: float = 0

    def see(self, arrivals: Iterable[Arrival], watermark: float = -math.inf) -> float:
        """Take arrivals in; tell the time after them.

        Both streams have reached the watermark.
        """
        for arrival in arrivals:
            if not any(self._seen):
                self._seen[0].append(arrival.time)
                self._seen[1].append(arrival.time)
            self._seen[0].append(watermark)
            self._seen[1].append(watermark)
            self._seen[arrival.side].append(arrival.time)
            if self._lead is None:
                self._now = arrival.time
            else:
                left, right = map(max, self._seen)
                reached = min(left, right) + self._lead
                self._now = max(self._now, min(max(left, right), reached))
        return self._now
