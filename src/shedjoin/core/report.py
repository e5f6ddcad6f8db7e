"""What one shard reports about one micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one shard and micro-batch; they add up over shards.

    ``seen = late + stored``; ``stored`` rows become residents until they expire;
    ``resident`` rows are those that a coming arrival could still match.
    """

    seen_left: int = 0
    seen_right: int = 0
    late_left: int = 0
    late_right: int = 0
    stored_left: int = 0
    stored_right: int = 0
    expired_left: int = 0
    expired_right: int = 0
    resident_left: int = 0
    resident_right: int = 0
    matched: int = 0
    segments: int = 0
    state_bytes: int = 0
    written_bytes: int = 0
    restored: int = 0
    watermark_ms: int = 0

    @staticmethod
    def combine(name: str) -> Literal["sum", "max"]:
        """How a field is put together over shards."""
        return "max" if name == "watermark_ms" else "sum"

    def with_written(self, written_bytes: int, *, restored: bool = False) -> Report:
        """Fill in what is known only after the state has been encoded."""
        return replace(self, written_bytes=written_bytes, restored=int(restored))

    def __add__(self, other: Report) -> Report:
        merged = {
            f.name: (max if self.combine(f.name) == "max" else _add)(
                getattr(self, f.name), getattr(other, f.name)
            )
            for f in fields(self)
        }
        return Report(**merged)


def _add(a: int, b: int) -> int:
    return a + b


REPORT_FIELDS = tuple(field.name for field in fields(Report))
