"""Segments: runs of residents that are written, dropped and moved as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FANOUT = 8
SMALL_BYTES = 1 << 20
_SMALLEST_BYTES = 1 << 12
_SLACK_ROWS = 1 << 10


class Segment(NamedTuple):
    """A run of slots whose rows are stored together.

    ``alive`` rows of it can still be matched under the current watermark.
    """

    id: int
    side: int
    first_slot: int
    rows: int
    alive: int
    min_us: int
    max_us: int
    bytes: int


def worth_moving(segments: Sequence[Segment], end: int) -> list[Segment]:
    """Which segments of one side, in slot order, to rewrite at the end of the window.

    Two reasons, both amortised to a constant per row. *Cleaning*: more than half of
    the slots are dead (late risers in an old segment hold the ring back), so the
    survivors of the oldest segments move. *Merging*: eight neighbours of about the
    same small size become one, so that tiny micro-batches do not leave thousands of
    segments. Segments over 1 MiB are never merged: what a batch writes stays
    proportional to what it brought, however long the window is.
    """
    if not segments:
        return []
    alive = sum(segment.alive for segment in segments)
    cleaned = 0
    while (
        cleaned < len(segments)
        and end - segments[cleaned].first_slot > 2 * alive + _SLACK_ROWS
    ):
        cleaned += 1
    return list(segments[:cleaned]) or _mergeable(segments)


def _mergeable(segments: Sequence[Segment]) -> list[Segment]:
    """Find the newest segments to merge, as when a counter to base eight carries.

    Eight of a level become one of the next; if that makes eight there, they go along.
    """
    level = _level(segments[-1])
    chosen, merged = 0, 0
    while level is not None:
        run = _run(segments, level)
        if run - chosen + merged < FANOUT:
            break
        chosen, merged = run, 1
        level += 1
    return list(segments[-chosen:]) if chosen else []


def _run(segments: Sequence[Segment], highest: int) -> int:
    """Count the newest segments up to a level."""
    run = 0
    for segment in reversed(segments):
        level = _level(segment)
        if level is None or level > highest:
            break
        run += 1
    return run


def _level(segment: Segment) -> int | None:
    if segment.bytes >= SMALL_BYTES:
        return None
    level, bound = 0, _SMALLEST_BYTES
    while segment.bytes >= bound:
        level, bound = level + 1, bound * FANOUT
    return level
