"""The watermark of several streams, as Spark moves it."""

from __future__ import annotations

from collections.abc import Sequence


class Watermark:
    """Global watermark: the least of all streams' greatest times minus their delays.

    ``current_ms`` is in force during a micro-batch. The rows of the micro-batch move
    the watermark of the next one.
    """

    def __init__(self, delays_us: Sequence[int]) -> None:
        self._delays_ms = [delay // 1000 for delay in delays_us]
        self._reached_ms: list[int | None] = [None] * len(delays_us)
        self.current_ms = 0

    def observe(self, greatest_us: Sequence[int | None]) -> None:
        """Note the greatest event time of each stream in this micro-batch."""
        for stream, greatest in enumerate(greatest_us):
            if greatest is not None:
                candidate = greatest // 1000 - self._delays_ms[stream]
                reached = self._reached_ms[stream]
                if reached is None or candidate > reached:
                    self._reached_ms[stream] = candidate
        slower = min(0 if ms is None else ms for ms in self._reached_ms)
        self.current_ms = max(self.current_ms, slower)
