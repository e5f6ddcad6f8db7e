"""Chooses which segments to merge, so that tiny micro-batches leave few segments."""

from __future__ import annotations

from collections.abc import Sequence

from shedjoin.state.segments import Segment

FANOUT = 8
SMALL_BYTES = 1 << 20
_SMALLEST_BYTES = 1 << 12


def newest_to_merge(segments: Sequence[Segment]) -> int:
    """Count how many of the newest segments of a stream are to be merged into one.

    This works like a counter to base eight. A level is a range of segment sizes. Eight
    adjacent segments of one level become one segment of the next level. If the next
    level then has eight segments, they are merged at once. Segments of 1 MiB or more
    are never merged. So the bytes that a micro-batch writes are in proportion to its
    arrivals, however long the window is.
    """
    level = _level(segments[-1])
    chosen, merged = 0, 0
    while level is not None:
        newest = _newest(segments, level)
        if newest - chosen + merged < FANOUT:
            break
        chosen, merged = newest, 1
        level += 1
    return chosen


def _newest(segments: Sequence[Segment], highest: int) -> int:
    """Count the newest segments whose level is at most ``highest``."""
    count = 0
    for segment in reversed(segments):
        level = _level(segment)
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
