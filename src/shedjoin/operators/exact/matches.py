"""From arrivals to joined rows: probe the opposite residents, gather both payloads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.kernels.index import Pairs, Reach, probe
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.combine import Met, combine_rows
from shedjoin.types import LEFT, RIGHT, IntArray, Side

ROOM = 1 << 17
ROOM_BYTES = 32 << 20
"""Matches gathered at once: enough of them for speed, few enough for memory."""


def joined_rows(store: WindowStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with the residents of the other side, in batches."""
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    ring = store.rings[other]
    if not chunk.rows.num_rows or ring.base == ring.end:
        return
    room = max(1, min(ROOM, ROOM_BYTES // _pair_bytes(store, chunk)))
    pairs = _room(room)
    start, reach = 0, Reach(*store.spec.reach(chunk.side))
    while start < chunk.rows.num_rows:
        found, after, steps = probe(
            *chunk.hot, start, reach, ring.index, ring.base, pairs
        )
        store.longest_chain = max(store.longest_chain, steps)
        for first in range(0, found, room):
            part = slice(first, min(first + room, found))
            yield from _gather(store, chunk, pairs.arrival[part], pairs.slot[part])
        if not found and after < chunk.rows.num_rows:
            pairs = _room(2 * pairs.slot.size)  # one arrival has more matches than room
        start = after


def _pair_bytes(store: WindowStore, chunk: Chunk) -> int:
    """Average size of a pair, by what is stored and what arrives."""
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    segments = [run.segment for run in store.runs[other]]
    stored = sum(segment.bytes for segment in segments)
    rows = sum(segment.rows for segment in segments)
    return int(chunk.rows.nbytes // chunk.rows.num_rows + stored // max(rows, 1)) + 1


def _room(size: int) -> Pairs:
    return Pairs(np.empty(size, np.int64), np.empty(size, np.int64))


def _gather(
    store: WindowStore, chunk: Chunk, arrival: IntArray, slot: IntArray
) -> Iterator[pa.RecordBatch]:
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    for rows, found, places in store.by_segment(other, slot):
        mine = Met(chunk.rows, arrival[places])
        yield from combine_rows(store.spec, chunk.side, mine, Met(rows, found))
