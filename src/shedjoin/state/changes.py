"""A log of changes: stores a large array without writing all of it each time.

Each micro-batch adds a part with the entries that changed. Eight parts of one level are
merged into one of the next level, so there are few parts after any number of
micro-batches. When the parts together have about twice as many entries as the array,
the whole array is written in their place. So the bytes that are written are in
proportion to what changed. The bytes that a restart reads are in proportion to the size
of the array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.state.blobs import Blobs, Commit, load_segment

LOGS = 2
"""Difference between the blob numbers of successive parts of a log. So logs 0 and 1 use
different numbers. All of them are below the number of the directory."""
_FIRST = -2
_MERGED = 8


class Part(NamedTuple):
    """A stored part: the number of its blob, its level and how many entries it has."""

    number: int
    level: int
    entries: int


class ChangeLog:
    """One log.

    Parameters
    ----------
    log : int
        Number of the log within the shard.
    key : str
        The column that identifies an entry. Later parts overrule earlier parts.
    parts : sequence of Part
        The stored parts, oldest first.
    """

    def __init__(self, log: int, key: str, parts: Sequence[Sequence[int]] = ()) -> None:
        self._key = key
        self._first = _FIRST - log
        self.parts = [Part(*part) for part in parts]

    def read(self, blobs: Blobs) -> Iterator[pa.RecordBatch]:
        """Read all parts, oldest first; later parts overrule earlier parts."""
        return (load_segment(blobs, part.number) for part in self.parts)

    def is_long(self, more: int, whole: int) -> bool:
        """Whether to write all ``whole`` entries instead of ``more`` changes."""
        entries = sum(part.entries for part in self.parts)
        return entries + more > 2 * whole + 1024

    def forget(self, changes: Commit) -> None:
        """Remove all parts, because the whole array is written next."""
        while self.parts:
            changes.remove(self.parts.pop().number)

    def add(self, entries: pa.RecordBatch, changes: Commit) -> None:
        """Write the entries that changed, if there are any."""
        level = 0
        while entries.num_rows:
            last = self.parts[1 - _MERGED :]
            if len(last) < _MERGED - 1 or any(part.level != level for part in last):
                number = self._first
                if self.parts:
                    number = self.parts[-1].number - LOGS
                changes.put_rows(number, entries)
                self.parts.append(Part(number, level, entries.num_rows))
                return
            stored = [changes.rows(part.number) for part in last]
            for part in last:
                changes.remove(part.number)
            del self.parts[1 - _MERGED :]
            entries = self._latest([*stored, entries])
            level += 1

    def _latest(self, parts: list[pa.RecordBatch]) -> pa.RecordBatch:
        """Merge parts into one that has the last state of each entry."""
        rows = pa.concat_batches(parts)
        backwards = rows[self._key].to_numpy()[::-1]
        _, last = np.unique(backwards, return_index=True)
        return rows.take(pa.array(rows.num_rows - 1 - last))
