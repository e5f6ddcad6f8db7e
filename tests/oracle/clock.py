"""The time that shedding goes by, slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shedding import Arrival


class Clock:
    """Tells the time after arrivals.

    Without a window it is theirs. With one it is the greatest time seen, but at most
    the lead after the greatest time that both streams have reached; before anything
    came from one of them, it counts as having reached the time of the very first
    arrival. The lead is a quarter of the window at first. Whenever a window has passed,
    or 32 rows of the sparser stream have come, it is measured anew: eight times the
    mean gap between rows of the sparser stream since it was measured last, but a 256th
    of the window at least and a quarter at most.
    """

    def __init__(self, window: float | None) -> None:
        self._window = window
        self._lead = (window or 0) / 4
        self._seen: tuple[list[float], list[float]] = ([], [])
        self._recent: list[int] = []  # sides of arrivals since it was measured
        self._since: float = 0
        self._now: float = 0

    def see(self, arrivals: Iterable[Arrival], watermark: float = -math.inf) -> float:
        """Take arrivals in; tell the time after them.

        Both streams have reached the watermark.
        """
        for arrival in arrivals:
            if not any(self._seen):
                self._seen[0].append(arrival.time)
                self._seen[1].append(arrival.time)
                self._since = arrival.time
            self._seen[0].append(watermark)
            self._seen[1].append(watermark)
            self._seen[arrival.side].append(arrival.time)
            if self._window is None:
                self._now = arrival.time
            else:
                left, right = map(max, self._seen)
                reached = min(left, right) + self._lead
                self._now = max(self._now, min(max(left, right), reached))
                self._recent.append(arrival.side)
                self._measure(self._window)
        return self._now

    def _measure(self, window: float) -> None:
        passed = self._now - self._since
        sparser = min(self._recent.count(0), self._recent.count(1))
        if passed < window and sparser < 32:
            return
        gap = math.floor(1e6 * passed / max(sparser, 1)) / 1e6  # whole microseconds
        self._lead = min(max(8 * gap, window / 256), window / 4)
        self._since = self._now
        self._recent = []
