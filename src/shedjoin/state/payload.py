"""Payload of residents: their rows, in immutable segments that have numbers.

A *place* is one integer that holds the number of a segment and a row in it. This module
uses no negative places. Callers use negative places for rows that are not stored yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from shedjoin.columns.schema import as_stored
from shedjoin.state.blobs import Blobs, Commit, load_segment
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import Workspace
from shedjoin.types import IntArray

ROW_BITS = 32
_ROW_MASK = (1 << ROW_BITS) - 1


class Payload:
    """Segments of all streams of a shard.

    Parameters
    ----------
    workspace : Workspace
        Holds the rows.
    segments : sequence of Segment
        The segments that are stored.
    next_id : int
        The number of the next segment.
    dropped : sequence of int
        Numbers of blobs to remove.
    """

    def __init__(
        self,
        workspace: Workspace,
        segments: Sequence[Segment] = (),
        next_id: int = 0,
        dropped: Sequence[int] = (),
    ) -> None:
        self._workspace = workspace
        self.segments = {segment.id: segment for segment in segments}
        self.next_id = next_id
        self._written: list[int] = []
        self._held: dict[int, pa.RecordBatch] = {}
        self._dropped = list(dropped)

    @property
    def nbytes(self) -> int:
        """Bytes of all segments, including rows that are not residents any more."""
        return sum(segment.bytes for segment in self.segments.values())

    def restore(self, number: int, blobs: Blobs) -> pa.RecordBatch:
        """Decode a stored segment into the workspace."""
        rows = as_stored(load_segment(blobs, number))
        self._workspace.put(number, rows)
        return rows

    def add(self, stream: int, rows: pa.RecordBatch) -> Segment:
        """Store rows."""
        segment = Segment(self.next_id, stream, rows.num_rows, rows.nbytes)
        self.next_id += 1
        self.segments[segment.id] = segment
        self._workspace.put(segment.id, rows)
        self._written.append(segment.id)
        return segment

    def hold(self, stream: int, rows: pa.RecordBatch) -> Segment:
        """Keep rows in memory until it is decided which of them are stored."""
        segment = Segment(self.next_id, stream, rows.num_rows, rows.nbytes)
        self.next_id += 1
        self.segments[segment.id] = segment
        self._held[segment.id] = rows
        return segment

    def let_go(self, number: int) -> pa.RecordBatch:
        """Remove rows that were held, and return them."""
        del self.segments[number]
        return self._held.pop(number)

    def get(self, number: int) -> pa.RecordBatch:
        """Rows of a segment."""
        if number in self._held:
            return self._held[number]
        return self._workspace.get(number)

    def drop(self, number: int) -> None:
        """Remove a segment."""
        del self.segments[number]
        self._workspace.drop(number)
        if number in self._written:
            self._written.remove(number)
        else:
            self._dropped.append(number)

    def write(self, changes: Commit) -> None:
        """Write what has changed.

        New segments are written first, one at a time from the workspace. If a write
        fails, nothing has been removed from the stored state, and the micro-batch can
        be repeated.
        """
        for number in self._written:
            changes.put_rows(number, self._workspace.get(number))
        for number in self._dropped:
            changes.remove(number)

    def settle(self) -> None:
        """Note that all changes have been written."""
        self._written.clear()
        self._dropped.clear()

    def owners(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """Numbers of all segments, and for each place, the index of its segment."""
        ids = np.array(sorted(self.segments), np.int64)
        position = np.zeros(ids[-1] - ids[0] + 1, np.int64)
        position[ids - ids[0]] = np.arange(ids.size)
        return ids, position[segment_of(place) - ids[0]]

    def by_place(
        self, place: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Group places by segment, as :meth:`by_segment` does."""
        return self.by_segment(*self.owners(place), row_of(place))

    def by_segment(
        self, ids: IntArray, owner: IntArray, row: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Group rows by segment.

        Yield the segment's batch, the row numbers wanted from it, and their positions
        in the input.

        ``ids[owner]`` are the numbers of the segments that contain the rows.
        """
        if owner[0] == owner[-1] and (owner == owner[0]).all():
            yield self.get(int(ids[owner[0]])), row, np.arange(row.size)
            return
        small = np.min_scalar_type(ids.size)  # radix sort, if 16 bits suffice
        order = np.argsort(owner.astype(small), kind="stable")
        cuts = np.flatnonzero(np.diff(owner[order])) + 1
        for part in np.split(order, cuts):
            yield self.get(int(ids[owner[part[0]]])), row[part], part


def places(segment: Segment) -> IntArray:
    """Places of all rows of a segment."""
    return (segment.id << ROW_BITS) + np.arange(segment.rows)


def row_of(place: IntArray) -> IntArray:
    """Row number of each place within its segment."""
    return place & _ROW_MASK


def segment_of(place: IntArray) -> IntArray:
    """Number of the segment of each place."""
    return place >> ROW_BITS
