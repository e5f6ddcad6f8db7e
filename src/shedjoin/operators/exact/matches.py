"""Joined rows: matches of a chunk of arrivals, with the payload of all streams."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.operators.exact.hops import Partial, matches
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.combine import Met, combine_rows
from shedjoin.types import IntArray

ROOM = 1 << 17
ROOM_BYTES = 32 << 20
"""Matches gathered at once: enough of them for speed, few enough for memory."""


def joined_rows(store: WindowStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with the residents of all other streams, in batches."""
    others = [stream for stream in store.streams if stream != chunk.stream]
    # Streams with few residents first: they leave the fewest partial results.
    others.sort(key=store.residents)
    if not chunk.rows.num_rows or any(store.is_empty(other) for other in others):
        return
    room = max(1, min(ROOM, ROOM_BYTES // _result_bytes(store, chunk)))
    start = Partial.of(chunk.hot, store.spec.keeps_us[chunk.stream])
    for arrival, slots in matches(store, start, others, room):
        yield from _gather(store, chunk, arrival, slots)


def _result_bytes(store: WindowStore, chunk: Chunk) -> int:
    """Average size of a result, by what is stored and what arrives."""
    size = chunk.rows.nbytes // chunk.rows.num_rows
    for stream in store.streams:
        if stream != chunk.stream:
            segments = [run.segment for run in store.runs[stream]]
            stored = sum(segment.bytes for segment in segments)
            size += stored // max(1, sum(segment.rows for segment in segments))
    return int(size) + 1


def _gather(
    store: WindowStore, chunk: Chunk, arrival: IntArray, slots: dict[int, IntArray]
) -> Iterator[pa.RecordBatch]:
    """Take the payload: of one stream segment by segment, of further ones at once."""
    *some, last = slots
    taken = {stream: store.gathered(stream, slots[stream]) for stream in some}
    for rows, hit, at in store.by_segment(last, slots[last]):
        met = {stream: Met(taken[stream], at) for stream in some}
        met |= {last: Met(rows, hit), chunk.stream: Met(chunk.rows, arrival[at])}
        yield from combine_rows(store.spec, [met[s] for s in store.streams])
