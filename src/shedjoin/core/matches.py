"""From arrivals to joined rows: probe the opposite residents, gather both payloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.core.arrivals import Chunk
from shedjoin.core.equality import equal_rows
from shedjoin.core.keys import SAMPLE
from shedjoin.core.spec import JoinSpec
from shedjoin.core.store import WindowStore
from shedjoin.kernels.index import Pairs, Reach, probe
from shedjoin.types import LEFT, RIGHT, BoolArray, IntArray, Side

ROOM = 1 << 17
ROOM_BYTES = 32 << 20
"""Matches gathered at once: enough of them for speed, few enough for memory."""


class Met(NamedTuple):
    """Rows of one side that were matched: which rows of which batch."""

    rows: pa.RecordBatch
    at: IntArray


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
    stored = sum(segment.bytes for segment in store.segments[other])
    rows = sum(segment.rows for segment in store.segments[other])
    return int(chunk.rows.nbytes // chunk.rows.num_rows + stored // max(rows, 1)) + 1


def _room(size: int) -> Pairs:
    return Pairs(np.empty(size, np.int64), np.empty(size, np.int64))


def _gather(
    store: WindowStore, chunk: Chunk, arrival: IntArray, slot: IntArray
) -> Iterator[pa.RecordBatch]:
    other: Side = RIGHT if chunk.side == LEFT else LEFT
    for rows, found, places in store.by_segment(other, slot):
        taken = arrival if places is None else arrival[places]
        mine = Met(chunk.rows, taken)
        yield from combine_rows(store.spec, chunk.side, mine, Met(rows, found))


def combine_rows(
    spec: JoinSpec, side: Side, mine: Met, theirs: Met, said: Met | None = None
) -> Iterator[pa.RecordBatch]:
    """Joined rows of arrivals of ``side`` and residents of the other side.

    ``said`` is what the join itself says of each pair, if it does.
    """
    other: Side = RIGHT if side == LEFT else LEFT
    parts: dict[int, Met] = {side: mine, other: theirs}
    if said is not None:
        parts[SAMPLE] = said
    if not spec.direct:
        same = _same_keys(spec, side, mine, theirs)
        parts = {which: Met(met.rows, met.at[same]) for which, met in parts.items()}
    return _combine(spec, parts)


def _combine(spec: JoinSpec, parts: dict[int, Met]) -> Iterator[pa.RecordBatch]:
    """Take the matched rows of both sides; in halves where a column would overflow."""
    places = {side: pa.array(met.at) for side, met in parts.items()}
    try:
        columns = [
            parts[column.side].rows.column(column.source).take(places[column.side])
            for column in spec.output
        ]
    except pa.ArrowInvalid:  # over 2 GiB of text in one column
        half = len(parts[LEFT].at) // 2
        if not half:
            raise
        for half_of in (slice(None, half), slice(half, None)):
            halves = {s: Met(met.rows, met.at[half_of]) for s, met in parts.items()}
            yield from _combine(spec, halves)
    else:
        yield pa.RecordBatch.from_arrays(columns, [c.name for c in spec.output])


def _same_keys(spec: JoinSpec, side: Side, mine: Met, theirs: Met) -> BoolArray:
    """Check true keys: two keys of several columns may share a hash."""
    other: Side = RIGHT if side == LEFT else LEFT
    same = np.ones(mine.at.size, np.bool_)
    taken, found = pa.array(mine.at), pa.array(theirs.at)
    names = zip(spec.sides[side].keys, spec.sides[other].keys, strict=True)
    for own, opposite in names:
        arrived = mine.rows.column(own).take(taken)
        same &= equal_rows(arrived, theirs.rows.column(opposite).take(found))
    return same
