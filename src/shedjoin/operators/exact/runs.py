"""Runs of slots: residents that are dropped and moved as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shedjoin.state.segments import Segment

FANOUT = 8
SMALL_BYTES = 1 << 20
_SMALLEST_BYTES = 1 << 12
_SLACK_ROWS = 1 << 10


class Run(NamedTuple):
    """A run of slots whose rows are stored in one segment.

    ``alive`` rows of it can still be matched under the current watermark.
    """

    segment: Segment
    first_slot: int
    alive: int
    min_us: int
    max_us: int


class Stored(NamedTuple):
    """All that the exact join stores besides the rows, in slot order.

    ``ends`` are the next slots to give out, by stream; ``seed`` is that of the buckets.
    """

    runs: tuple[Run, ...]
    ends: tuple[int, ...]
    seed: int


def worth_moving(runs: Sequence[Run], end: int) -> list[Run]:
    """Which runs of one stream, in slot order, to rewrite at the end of the window.

    Two reasons, both amortised to a constant per row. *Cleaning*: more than half of
    the slots are dead (late risers in an old segment hold the ring back), so the
    survivors of the oldest segments move. *Merging*: eight neighbours of about the
    same small size become one, so that tiny micro-batches do not leave thousands of
    segments. Segments over 1 MiB are never merged: what a batch writes stays
    proportional to what it brought, however long the window is.
    """
    if not runs:
        return []
    alive = sum(run.alive for run in runs)
    cleaned = 0
    while (
        cleaned < len(runs) and end - runs[cleaned].first_slot > 2 * alive + _SLACK_ROWS
    ):
        cleaned += 1
    return list(runs[:cleaned]) or _mergeable(runs)


def _mergeable(runs: Sequence[Run]) -> list[Run]:
    """Find the newest segments to merge, as when a counter to base eight carries.

    Eight of a level become one of the next; if that makes eight there, they go along.
    """
    level = _level(runs[-1].segment)
    chosen, merged = 0, 0
    while level is not None:
        newest = _newest(runs, level)
        if newest - chosen + merged < FANOUT:
            break
        chosen, merged = newest, 1
        level += 1
    return list(runs[-chosen:]) if chosen else []


def _newest(runs: Sequence[Run], highest: int) -> int:
    """Count the newest runs up to a level."""
    count = 0
    for run in reversed(runs):
        level = _level(run.segment)
        if level is None or level > highest:
            break
        count += 1
    return count


def _level(segment: Segment) -> int | None:
    if segment.bytes >= SMALL_BYTES:
        return None
    level, bound = 0, _SMALLEST_BYTES
    while segment.bytes >= bound:
        level, bound = level + 1, bound * FANOUT
    return level
