"""From arrivals to joined rows: probe the opposite residents, gather both payloads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.core.arrivals import Chunk
from shedjoin.core.equality import equal_rows
from shedjoin.core.spec import JoinSpec
from shedjoin.core.store import WindowStore
from shedjoin.kernels.index import Pairs, Reach, probe
from shedjoin.types import LEFT, RIGHT, IntArray, Side

ROOM = 1 << 17
"""Matches gathered at once: large enough for the gather, small enough for memory."""


def joined_rows(store: WindowStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with the residents of the other side, in batches."""
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    ring = store.rings[other]
    if not chunk.rows.num_rows or ring.base == ring.end:
        return
    pairs = _room(ROOM)
    start, reach = 0, Reach(*store.spec.reach(chunk.side))
    while start < chunk.rows.num_rows:
        found, after = probe(*chunk.hot, start, reach, ring.index, ring.base, pairs)
        if found:
            yield from _gather(store, chunk, pairs.arrival[:found], pairs.slot[:found])
        elif after < chunk.rows.num_rows:
            pairs = _room(2 * pairs.slot.size)  # one arrival has more matches than room
        start = after


def _room(size: int) -> Pairs:
    return Pairs(np.empty(size, np.int64), np.empty(size, np.int64))


def _gather(
    store: WindowStore, chunk: Chunk, arrival: IntArray, slot: IntArray
) -> Iterator[pa.RecordBatch]:
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    for rows, found, places in store.by_segment(other, slot):
        take, hit = arrival if places is None else arrival[places], found
        if not store.spec.direct:
            same = _same_keys(store.spec, chunk, take, rows, hit)
            take, hit = take[same], hit[same]
        picked = {
            chunk.side: (chunk.rows, pa.array(take)),
            other: (rows, pa.array(hit)),
        }
        columns = []
        for column in store.spec.output:
            source, places_taken = picked[column.side]
            columns.append(source.column(column.source).take(places_taken))
        names = [column.name for column in store.spec.output]
        yield pa.RecordBatch.from_arrays(columns, names)


def _same_keys(
    spec: JoinSpec, chunk: Chunk, take: IntArray, rows: pa.RecordBatch, hit: IntArray
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Check true keys: two keys of several columns may share a hash."""
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    same = np.ones(len(take), np.bool_)
    taken, found = pa.array(take), pa.array(hit)
    for mine, theirs in zip(
        spec.sides[chunk.side].keys, spec.sides[other].keys, strict=True
    ):
        arrived = chunk.rows.column(mine).take(taken)
        same &= equal_rows(arrived, rows.column(theirs).take(found))
    return same
