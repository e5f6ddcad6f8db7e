"""The census: counts of all arrivals by cells of keys, sent to all shards.

A *cell* is a group of keys of one shard that are counted together. Every task that
packs rows also counts them, by cells and by slots of time, and sends its counts to
every shard. So every shard has the same counts for all shards. From these counts, all
shards compute the same division of a budget, without communication.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import CENSUS, Blob, digest
from shedjoin.columns.hot import Hot
from shedjoin.columns.ipc import decode_rows, encode_rows
from shedjoin.columns.placing import shard_of
from shedjoin.columns.sizes import row_sizes
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray

_CELLS, _MOST = 1 << 12, 64
"""Approximate number of cells of all shards, and limit of the cells of one shard."""
WINDOW_SLOTS = 8
_SHORTEST_US = 1_000_000
"""Number of slots of time in a window, and least length of a slot."""
_CLOSE = 1 << 20
_ENTRIES = 1 << 15
"""Limit of the counts that a task sends. If a micro-batch spans many windows, slots are
made longer to stay within this limit."""


class Counts(NamedTuple):
    """Number and bytes of rows, by stream, slot of time, and cell."""

    stream: IntArray
    slot: IntArray
    cell: IntArray
    number: IntArray
    size: IntArray


def may_share(spec: JoinSpec) -> bool:
    """Whether shards can share a budget by census.

    This is possible if there are several shards, rows are placed by key, and the join
    has no relation.
    """
    return spec.shards > 1 and spec.placement == "key" and spec.relation is None


def is_shared(spec: JoinSpec) -> bool:
    """Whether the join has a memory budget that its shards share."""
    if spec.shedding is None or not may_share(spec):
        return False
    budget = spec.shedding.budget
    return budget.limits_memory and budget.by_shard is None


def cells_of_shard(shards: int) -> int:
    """Number of cells of keys in each shard."""
    return min(max(_CELLS // shards, 1), _MOST)


def slot_us(spec: JoinSpec) -> int:
    """Length of a slot of time in microseconds."""
    return max(spec.window_us // WINDOW_SLOTS, _SHORTEST_US)


class Counter:
    """Counts the rows of one stream that a task packs.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    stream : int
        Number of the stream.
    has_sizes : bool
        Whether to count bytes. A budget in rows does not need them.
    """

    def __init__(self, spec: JoinSpec, stream: int, *, has_sizes: bool) -> None:
        self._stream = stream
        self._cells = spec.shards * cells_of_shard(spec.shards)
        self._width = slot_us(spec)
        self._has_sizes = has_sizes
        self._place, self._count, self._size = np.zeros((3, 0), np.int64)

    def add(self, rows: pa.RecordBatch, hot: Hot) -> None:
        """Count rows."""
        cell = shard_of(hot.key, self._cells)
        sizes = row_sizes(rows) if self._has_sizes else np.zeros(0, np.int64)
        came = _counted(hot.time // self._width * self._cells + cell, sizes)
        own = self._place, self._count, self._size
        self._put(*(np.concatenate(both) for both in zip(own, came, strict=True)))

    def blob(self) -> Blob | None:
        """The census of all rows that were added, or None if no row was added."""
        if not self._place.size:
            return None
        longer = 0
        while self._place.size > _ENTRIES:
            longer += 1
            slot, cell = np.divmod(self._place, self._cells)
            place = (slot >> longer << longer) * self._cells + cell
            self._put(place, self._count, self._size)
        slot, cell = np.divmod(self._place, self._cells)
        columns = {
            "stream": np.full(slot.size, self._stream, np.int8),
            "slot": slot,
            "cell": cell.astype(np.int32),
            "number": self._count,
            "size": self._size,
        }
        rows = pa.record_batch(columns)
        payload = encode_rows([rows], rows.schema)
        return Blob(CENSUS, digest(payload), payload)

    def _put(self, place: IntArray, count: IntArray, size: IntArray) -> None:
        self._place, at = np.unique(place, return_inverse=True)
        self._count, self._size = np.zeros((2, self._place.size), np.int64)
        np.add.at(self._count, at, count)
        np.add.at(self._size, at, size)


def _counted(place: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct places, and the number of rows and bytes of each.

    A place is one number for slot and cell. Without ``sizes``, no bytes are counted.
    """
    first = int(place.min()) if place.size else 0
    if place.size and int(place.max()) - first < _CLOSE:  # counts without sorting
        number = np.bincount(place - first)
        there = np.flatnonzero(number)
        at = (np.cumsum(number > 0) - 1)[place - first] if sizes.size else place
        place, count = there + first, number[there]
    else:
        place, at, count = np.unique(place, return_inverse=True, return_counts=True)
    size = np.zeros(place.size, np.int64)
    if sizes.size:  # whole numbers far below 2^53
        size = np.bincount(at, weights=sizes).astype(np.int64)
    return place, count, size


def counts_in(blobs: Iterable[Blob]) -> Counts:
    """Read all counts that came with a micro-batch."""
    names = Counts._fields
    parts = [
        [batch.column(name).to_numpy().astype(np.int64) for name in names]
        for blob in blobs
        if blob.stream == CENSUS
        for batch in decode_rows(blob.payload)
    ]
    nothing = [np.zeros(0, np.int64) for _ in names]
    return Counts(*map(np.concatenate, zip(nothing, *parts, strict=True)))
