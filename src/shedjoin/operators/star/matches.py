"""Joins arrivals with residents, and residents that new relation rows connect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.columns.hot import Hot
from shedjoin.operators.exact.ring import probed
from shedjoin.operators.frame.combine import Met, joined_columns
from shedjoin.operators.frame.results import (
    ROOM,
    gathered,
    room_within,
    row_bytes,
)
from shedjoin.operators.star.changing import LEFT, RIGHT
from shedjoin.operators.star.relation import Grown
from shedjoin.operators.star.relation_store import same_keys
from shedjoin.operators.star.store import StarStore
from shedjoin.types import IntArray


class Found(NamedTuple):
    """Matches: slots of relation rows, and slots of residents by stream.

    For the stream of the arrivals, their positions in the chunk are given instead of
    slots.
    """

    relation: IntArray
    left: IntArray
    right: IntArray


def taken_in(store: StarStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with residents through the relation, then store the arrivals.

    The relation row of a match must be valid at the times of both stream rows. If the
    relation is fixed, an arrival without a relation row is not stored.
    """
    own, other = chunk.stream, 1 - chunk.stream
    relation, ring = store.relation.rows, store.rings[other]
    keeps_us, time = store.spec.keeps_us, chunk.hot.time
    related = np.zeros(time.size, np.bool_)
    room = _room(store, chunk)
    for at, row in relation.active(own, chunk.hot.key, time):
        related[at] = True
        low = np.maximum(time[at] - keeps_us[other], relation.begin[row])
        high = np.minimum(time[at] + keeps_us[own], relation.end[row] - 1)
        limits = relation.keys(other)[row], low, high
        for hit, slot, steps in probed(ring, *limits, room, in_order=True):
            store.longest_chain = max(store.longest_chain, steps)
            met = (at[hit], slot) if own == LEFT else (slot, at[hit])
            yield from _results(store, Found(row[hit], *met), chunk)
    rows, hot = chunk.rows, chunk.hot
    if store.fixed and not related.all():
        rows = rows.filter(pa.array(related))
        hot = Hot(hot.key[related], hot.time[related])
    if rows.num_rows:
        store.insert(own, rows, hot)


def joined_relation(store: StarStore, grown: Grown) -> Iterator[pa.RecordBatch]:
    """Join residents that match because relation rows were added or prolonged."""
    relation, keeps_us = store.relation.rows, store.spec.keeps_us
    left, right = store.rings
    begin, end = relation.begin[grown.slot], relation.end[grown.slot]
    # Expired residents may still be in the index.
    there = [store.horizon_us(stream) + 1 for stream in (LEFT, RIGHT)]
    limits = relation.keys(LEFT)[grown.slot], np.maximum(begin, there[LEFT]), end - 1
    room = _room(store)
    for at, slot, _ in probed(left, *limits, ROOM, in_order=True):
        at, slot = at.copy(), slot.copy()  # noqa: PLW2901  (probed reuses its arrays)
        row, time = grown.slot[at], left.times(slot)
        low = np.maximum(time - keeps_us[RIGHT], begin[at])
        low = np.maximum(low, there[RIGHT])
        high = np.minimum(time + keeps_us[LEFT], end[at] - 1)
        ranges = relation.keys(RIGHT)[row], low, high
        for hit, other, _ in probed(right, *ranges, room, in_order=True):
            latest = np.maximum(time[hit], right.times(other))
            new = latest >= grown.since[at[hit]]
            hit, other = hit[new], other[new]  # noqa: PLW2901
            yield from _results(store, Found(row[hit], slot[hit], other))


def _room(store: StarStore, chunk: Chunk | None = None) -> int:
    """Number of results to gather at once, given the mean size of a result."""
    streams, size = [LEFT, RIGHT], 0
    if chunk is not None:
        streams = [1 - chunk.stream]
        size = chunk.rows.nbytes // max(1, chunk.rows.num_rows)
    for stream in streams:
        size += row_bytes(run.segment for run in store.runs[stream])
    if store.tells or not store.spec.direct:
        size += store.relation.row_bytes
    return room_within(size)


def _results(
    store: StarStore, found: Found, chunk: Chunk | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the joined rows of matches."""
    if not found.left.size:
        return
    met = []
    for stream, slot in ((LEFT, found.left), (RIGHT, found.right)):
        if chunk is not None and chunk.stream == stream:
            met.append(Met(chunk.rows, slot))
        else:
            rows = gathered(store.by_segment(stream, slot), slot.size)
            met.append(Met(rows, np.arange(slot.size)))
    if not store.spec.direct:
        same = same_keys(store.relation.taken(found.relation), store.spec, met)
        met = [Met(each.rows, each.at[same]) for each in met]
        found = found._replace(relation=found.relation[same])
    if store.tells:
        rows = store.relation.taken(found.relation)
        met.append(Met(rows, np.arange(found.relation.size)))
    yield from joined_columns(store.spec, met)
