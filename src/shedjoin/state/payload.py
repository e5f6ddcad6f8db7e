"""Payload of residents: immutable segments of rows, by number.

A *place* is a segment's number and a row in it, in one integer. Negative places are
left to those who call: rows that are not stored yet.
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
        Segments as last stored.
    next_id : int
        The number of the next one.
    dropped : sequence of int
        Numbers of blobs that are to be removed.
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
        """Bytes of all segments, rows of former residents included."""
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
        """Keep rows in memory, until it is known which of them are to be stored."""
        segment = Segment(self.next_id, stream, rows.num_rows, rows.nbytes)
        self.next_id += 1
        self.segments[segment.id] = segment
        self._held[segment.id] = rows
        return segment

    def let_go(self, number: int) -> pa.RecordBatch:
        """Forget rows that were held; they are given back."""
        del self.segments[number]
        return self._held.pop(number)

    def get(self, number: int) -> pa.RecordBatch:
        """Rows of a segment."""
        if number in self._held:
            return self._held[number]
        return self._workspace.get(number)

    def drop(self, number: int) -> None:
        """Forget a segment."""
        del self.segments[number]
        self._workspace.drop(number)
        if number in self._written:
            self._written.remove(number)
        else:
            self._dropped.append(number)

    def write(self, changes: Commit) -> None:
        """Write what has changed.

        New segments come first, one at a time out of the workspace: if that fails,
        nothing has been taken from the state before, and the micro-batch can be done
        again.
        """
        for number in self._written:
            changes.put_rows(number, self._workspace.get(number))
        for number in self._dropped:
            changes.remove(number)

    def settle(self) -> None:
        """What has changed is written."""
        self._written.clear()
        self._dropped.clear()

    def owners(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """All segments' numbers, and which of them each place is in."""
        ids = np.array(sorted(self.segments), np.int64)
        position = np.zeros(ids[-1] - ids[0] + 1, np.int64)
        position[ids - ids[0]] = np.arange(ids.size)
        return ids, position[segment_of(place) - ids[0]]

    def by_place(
        self, place: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Sort places by segment, as :meth:`by_segment`."""
        return self.by_segment(*self.owners(place), row_of(place))

    def by_segment(
        self, ids: IntArray, owner: IntArray, row: IntArray
    ) -> Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]:
        """Sort rows by segment: all rows of it, those asked for, and where they stood.

        ``ids[owner]`` are the numbers of the segments that the rows lie in.
        """
        if owner[0] == owner[-1] and (owner == owner[0]).all():
            yield self.get(int(ids[owner[0]])), row, np.arange(row.size)
            return
        small = np.min_scalar_type(ids.size)  # sorted by radix if 16 bits will do
        order = np.argsort(owner.astype(small), kind="stable")
        cuts = np.flatnonzero(np.diff(owner[order])) + 1
        for part in np.split(order, cuts):
            yield self.get(int(ids[owner[part[0]]])), row[part], part


def places(segment: Segment) -> IntArray:
    """Places of all rows of a segment."""
    return (segment.id << ROW_BITS) + np.arange(segment.rows)


def row_of(place: IntArray) -> IntArray:
    """Rows of places in their segments."""
    return place & _ROW_MASK


def segment_of(place: IntArray) -> IntArray:
    """Numbers of the segments that places lie in."""
    return place >> ROW_BITS
