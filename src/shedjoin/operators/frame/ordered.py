"""Sorts all arrivals of a micro-batch by (time, stream, digest, position).

The digest identifies the blob in which a row came, and the position is that of the row
in this blob.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, on_time, pieces_of
from shedjoin.columns.hot import Hot
from shedjoin.columns.schema import as_stored
from shedjoin.columns.sizes import row_sizes
from shedjoin.spec.importance import importance_of
from shedjoin.spec.streams import IMPORTANCE_COLUMN, JoinSpec
from shedjoin.types import FloatArray, IntArray

_ROUNDING = 8
_BITS = 63
_Column = TypeVar("_Column", IntArray, FloatArray)
PART_ROWS, PART_BYTES = 1 << 20, 48 << 20
"""Limits of the rows and bytes of a part. A part is the arrivals that are joined at
once. Only one part at a time is copied into memory. The other arrivals stay in the
batches that were delivered."""


class Ordered(NamedTuple):
    """Arrivals as columns; ``origin`` is the position in the batch of the stream."""

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    origin: IntArray
    rows: tuple[pa.RecordBatch, ...]  # None for a stream without arrivals


class _Piece(NamedTuple):
    """A batch as delivered, the rows of it that are not late, and their hot columns.

    Hot columns are key and time. Late rows stay in the batch: to remove them, a whole
    micro-batch would have to be copied.
    """

    rows: pa.RecordBatch
    taken: IntArray | None  # None for all
    hot: Hot

    def sizes(self) -> IntArray:
        """Bytes of each row that is not late."""
        sizes = row_sizes(self.rows)
        return sizes if self.taken is None else sizes[self.taken]

    def select(self, at: IntArray) -> pa.RecordBatch:
        """Select some of the rows that are not late, by their positions among these."""
        if self.taken is not None:
            at = self.taken[at]
        elif at.size == self.rows.num_rows:
            return self.rows
        return self.rows.take(pa.array(at))


class _Delivered(NamedTuple):
    """Arrivals of one stream."""

    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    rows: pa.RecordBatch  # None without arrivals


class Timely:
    """Arrivals of a micro-batch that are not late, in the batches as delivered.

    Parameters
    ----------
    blobs : sequence of Blob
        The micro-batch.
    spec : JoinSpec
        The join.
    late_ms : int
        Rows up to this time are late.
    index_bytes : int
        Bytes that a resident takes from a budget in bytes, in addition to its row.
    """

    def __init__(
        self,
        blobs: Sequence[Blob],
        spec: JoinSpec,
        late_ms: int,
        index_bytes: int = 0,
    ) -> None:
        self._spec = spec
        self._index_bytes = index_bytes
        self._pieces: list[list[_Piece]] = [[] for _ in spec.streams]
        self.seen = [0] * len(spec.streams)
        for stream, pieces in enumerate(self._pieces):
            for rows in pieces_of(blobs, stream):
                self.seen[stream] += rows.num_rows
                taken, hot = on_time(stream, rows, spec, late_ms)
                if hot.key.size:
                    pieces.append(_Piece(rows, taken, hot))
        self.taken = [sum(one.hot.key.size for one in own) for own in self._pieces]

    def parts(self, cuts: Sequence[int] = ()) -> Iterator[Ordered]:
        """Yield all arrivals in order, in parts of bounded size.

        A new part also begins at each of the times in ``cuts``.
        """
        times = [piece.hot.time for own in self._pieces for piece in own]
        time = np.concatenate([np.zeros(0, np.int64), *times])
        del times
        order = _by_time(time)  # equal times: by stream
        start = 0
        whole = np.searchsorted(time, cuts, sorter=order).tolist()
        for end in _cut(self._ends(order, time), whole):
            yield self._part(order[start:end])
            start = end

    def _ends(self, order: IntArray, time: IntArray) -> Iterator[int]:
        """Yield the ends of parts, so that no part exceeds the limits.

        The sizes of single rows are added up, because large rows may be adjacent. Rows
        with equal times are divided only if they do not fit into one part.
        """
        sizes = self._sizes_if_many()
        end = 0
        while end < order.size:
            start, end = end, min(end + PART_ROWS, order.size)
            if sizes is not None:
                filled = np.cumsum(sizes[order[start:end]], dtype=np.int64)
                fitting = int(np.searchsorted(filled, PART_BYTES, side="right"))
                end = start + max(1, fitting)
                del filled
            if end < order.size and time[order[end]] == time[order[end - 1]]:
                within = time[order[start:end]]
                begin = start + int(np.searchsorted(within, time[order[end]]))
                end = begin if begin > start else end
            yield end

    def _sizes_if_many(self) -> npt.NDArray[np.int32] | None:
        """Bytes of each row, in the order of delivery; None if all fit into a part."""
        pieces = [piece for own in self._pieces for piece in own]
        if sum(piece.rows.nbytes for piece in pieces) <= PART_BYTES:
            return None
        sizes = np.empty(sum(self.taken), np.int32)
        first = 0
        for piece in pieces:
            rows = slice(first, first + piece.hot.key.size)
            sizes[rows] = np.minimum(piece.sizes(), PART_BYTES)
            first = rows.stop
        return sizes

    def _part(self, order: IntArray) -> Ordered:
        """Arrivals at some positions, which count arrivals in the order of delivery."""
        wanted, place = np.arange(order.size), order
        if order.size < sum(self.taken):
            wanted = np.sort(order)
            place = np.searchsorted(wanted, order)
        first = np.cumsum([0, *self.taken])
        cuts = np.searchsorted(wanted, first)
        found = [
            self._of_stream(stream, wanted[cuts[stream] : cuts[stream + 1]] - start)
            for stream, start in enumerate(first[:-1])
        ]
        start = np.cumsum([0, *(own.key.size for own in found)])
        stream = np.zeros(place.size, np.int64)
        for following in start[1:-1]:
            stream += place >= following
        return Ordered(
            stream=stream,
            key=_joined([own.key for own in found], place),
            time=_joined([own.time for own in found], place),
            importance=_joined([own.importance for own in found], place),
            size=_joined([own.size for own in found], place),
            origin=place - start[stream],
            rows=tuple(own.rows for own in found),
        )

    def _of_stream(self, stream: int, wanted: IntArray) -> _Delivered:
        """Some arrivals of one stream, in the order of delivery."""
        nothing = np.zeros(0, np.int64)
        keys, times, importances, taken = [nothing], [nothing], [np.zeros(0)], []
        first = 0
        for piece in self._pieces[stream]:
            low, high = np.searchsorted(wanted, [first, first + piece.hot.key.size])
            here = wanted[low:high] - first
            first += piece.hot.key.size
            if here.size:
                rows = piece.select(here)
                whole = here.size == piece.hot.key.size
                keys.append(piece.hot.key if whole else piece.hot.key[here])
                times.append(piece.hot.time if whole else piece.hot.time[here])
                importances.append(self._importance(stream, rows))
                taken.append(as_stored(rows))
        batch = pa.concat_batches(taken) if taken else None
        return _Delivered(
            key=np.concatenate(keys),
            time=np.concatenate(times),
            importance=np.concatenate(importances),
            size=self._sizes(batch),
            rows=batch,
        )

    def _importance(self, stream: int, rows: pa.RecordBatch) -> FloatArray:
        """Importance of each row; infinite in a stream without importance."""
        shedding = self._spec.shedding
        if shedding is not None and shedding.importance is not None:
            return importance_of(shedding.importance.of(self._spec.names[stream]), rows)
        given = IMPORTANCE_COLUMN in rows.schema.names
        return importance_of(IMPORTANCE_COLUMN if given else None, rows)

    def _sizes(self, rows: pa.RecordBatch | None) -> IntArray:
        """Size of each row, in the unit of the budget: bytes, or 1 per row."""
        if rows is None:
            return np.zeros(0, np.int64)
        if not self._in_bytes:
            return np.ones(rows.num_rows, np.int64)
        return budget_sizes(rows, self._index_bytes)

    @property
    def _in_bytes(self) -> bool:
        shedding = self._spec.shedding
        return shedding is not None and shedding.budget.in_bytes


def _cut(ends: Iterator[int], also: Sequence[int]) -> Iterator[int]:
    """Yield the ends of parts, and the cuts in ``also``, in order."""
    start = 0
    for end in ends:
        yield from sorted({at for at in also if start < at < end} | {end})
        start = end


def _by_time(time: IntArray) -> IntArray:
    """Return the positions sorted by time; equal times keep their order.

    If time and position fit into one integer together, such integers are sorted,
    because this is faster than a stable sort.
    """
    bits = max(1, time.size - 1).bit_length()
    if not time.size or int(time.max()) - int(time.min()) >= 1 << (_BITS - bits):
        return np.argsort(time, kind="stable")
    both: IntArray = time - time.min()
    both <<= bits
    both |= np.arange(time.size)
    both.sort()
    both &= (1 << bits) - 1
    return both


def _joined(columns: list[_Column], place: IntArray) -> _Column:
    """Concatenate and reorder columns; a constant column need not be reordered."""
    together = np.concatenate(columns)
    if (together == together[0]).all():
        return together
    return together[place]


def budget_sizes(rows: pa.RecordBatch, index_bytes: int) -> IntArray:
    """Bytes that each row takes from a budget: payload and index."""
    return row_sizes(rows) + (index_bytes + _ROUNDING)
