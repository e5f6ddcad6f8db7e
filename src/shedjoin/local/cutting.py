"""Archived streams, read together in micro-batches of event time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.local.archive import ArchivedStream, times_us
from shedjoin.types import IntArray

PER_WINDOW = 24
"""Micro-batches that a window is cut into, unless their length is given."""
_SHORTEST_US = 1_000_000
_MOST = 2_400
"""Most micro-batches of a whole archive, unless their length is given."""
_READ_ROWS = 1 << 20
"""Most rows that are read at once, unless a single micro-batch has more."""


class Cut(NamedTuple):
    """The micro-batches that have rows: their length, numbers, and rows of each.

    Micro-batch n has the times from ``n * length_us`` (inclusive) to
    ``(n + 1) * length_us`` (exclusive).
    """

    length_us: int
    numbers: IntArray
    rows: IntArray

    @staticmethod
    def by_length(streams: Sequence[ArchivedStream], length_us: int) -> Cut:
        """Cut at every multiple of a length."""
        found = [stream.counts(length_us) for stream in streams]
        numbers, rows = (
            np.concatenate(columns) for columns in zip(*found, strict=True)
        )
        return _merged(length_us, numbers, rows)

    @staticmethod
    def by_window(streams: Sequence[ArchivedStream], window_us: int) -> Cut:
        """Cut each window into equal parts, or into fewer if there would be too many.

        Every micro-batch takes some time, however few rows it has. No part is shorter
        than a second, since hardly any query runs micro-batches more often.
        """
        length_us = max(window_us // PER_WINDOW, _SHORTEST_US)
        cut = whole = Cut.by_length(streams, length_us)
        factor = 1
        while cut.numbers.size > _MOST:
            factor += -(-factor // 8)
            cut = _merged(factor * length_us, whole.numbers // factor, whole.rows)
        return cut

    def readings(self) -> Iterator[slice]:
        """Ranges of micro-batches that are read at once."""
        start, total = 0, 0
        for place, rows in enumerate(self.rows.tolist()):
            if total and total + rows > _READ_ROWS:
                yield slice(start, place)
                start, total = place, 0
            total += rows
        yield slice(start, self.numbers.size)


def micro_batches(
    streams: Sequence[ArchivedStream], cut: Cut
) -> Iterator[tuple[pa.Table, ...]]:
    """Rows of each micro-batch, one table for each stream.

    Only the rows that are read at once are in memory. There are no gaps between the
    times that are read, so every row with a time is read once.
    """
    start_us: int | None = None
    for reading in cut.readings():
        ends_us = (cut.numbers[reading] + 1) * cut.length_us
        yield from _between(streams, start_us, ends_us)
        start_us = int(ends_us[-1])


def _between(
    streams: Sequence[ArchivedStream], start_us: int | None, ends_us: IntArray
) -> Iterator[tuple[pa.Table, ...]]:
    tables = [stream.between(start_us, int(ends_us[-1])) for stream in streams]
    ends = [
        [0, *np.searchsorted(times_us(table[stream.time]), ends_us).tolist()]
        for stream, table in zip(streams, tables, strict=True)
    ]
    for place in range(ends_us.size):
        yield tuple(
            table.slice(own[place], own[place + 1] - own[place])
            for table, own in zip(tables, ends, strict=True)
        )


def _merged(length_us: int, numbers: IntArray, rows: IntArray) -> Cut:
    numbers, place = np.unique(numbers, return_inverse=True)
    return Cut(length_us, numbers, np.bincount(place, rows).astype(np.int64))
