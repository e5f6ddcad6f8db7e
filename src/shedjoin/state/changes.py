"""A log of changes: how a large array is stored without writing it whole.

Each micro-batch adds a part with the entries that changed. Eight parts of one level
become one of the next level, so there are few parts however many micro-batches there
were; and when the parts together have become more than the whole, the whole takes their
place. So what is written follows what changed, and what is read again what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.state.blobs import Blobs, Commit, load_segment

LOGS = 2
"""Logs that a shard has; their blobs share the numbers below the directory's."""
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
        Which of the logs of a shard.
    key : str
        The column that tells the entry; later parts overrule earlier ones.
    parts : sequence of Part
        What is stored, oldest first.
    """

    def __init__(self, log: int, key: str, parts: Sequence[Sequence[int]] = ()) -> None:
        self._key = key
        self._first = _FIRST - log
        self.parts = [Part(*part) for part in parts]

    def read(self, blobs: Blobs) -> Iterator[pa.RecordBatch]:
        """All parts, in the order in which they overrule each other."""
        return (load_segment(blobs, part.number) for part in self.parts)

    def is_long(self, more: int, whole: int) -> bool:
        """Whether the whole is to be written instead of so many more changes."""
        entries = sum(part.entries for part in self.parts)
        return entries + more > 2 * whole + 1024

    def forget(self, changes: Commit) -> None:
        """Remove all parts: the whole follows."""
        while self.parts:
            changes.remove(self.parts.pop().number)

    def add(self, entries: pa.RecordBatch, changes: Commit) -> None:
        """Write what changed, if anything did."""
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
        """One part in place of several: of each entry its last state."""
        rows = pa.concat_batches(parts)
        backwards = rows[self._key].to_numpy()[::-1]
        _, last = np.unique(backwards, return_index=True)
        return rows.take(pa.array(rows.num_rows - 1 - last))
