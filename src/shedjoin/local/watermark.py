"""The watermark of two streams, as Spark moves it."""

from __future__ import annotations


class Watermark:
    """Global watermark: the slower of both streams' greatest time minus its delay.

    ``current_ms`` is in force during a micro-batch; what the batch brings moves the
    watermark of the next one.
    """

    def __init__(self, delays_us: tuple[int, int]) -> None:
        self._delays_ms = [delay // 1000 for delay in delays_us]
        self._reached_ms: list[int | None] = [None, None]
        self.current_ms = 0

    def observe(self, greatest_us: tuple[int | None, int | None]) -> None:
        """Take in the greatest event time of each stream in this micro-batch."""
        for side, greatest in enumerate(greatest_us):
            if greatest is not None:
                candidate = greatest // 1000 - self._delays_ms[side]
                reached = self._reached_ms[side]
                if reached is None or candidate > reached:
                    self._reached_ms[side] = candidate
        slower = min(0 if ms is None else ms for ms in self._reached_ms)
        self.current_ms = max(self.current_ms, slower)
