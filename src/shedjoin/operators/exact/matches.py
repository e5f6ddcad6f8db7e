"""Joins a chunk of arrivals with all residents, and yields the joined rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.operators.exact.hops import Partial, matches
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.results import gather_results, room_for


def joined_rows(store: WindowStore, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Join arrivals with the residents of all other streams, in batches."""
    others = [stream for stream in store.streams if stream != chunk.stream]
    # Streams with few residents come first, because they give few partial results.
    others.sort(key=store.residents)
    if not chunk.rows.num_rows or any(store.is_empty(other) for other in others):
        return
    room = room_for(
        chunk, ((run.segment for run in store.runs[other]) for other in others)
    )
    start = Partial.of(chunk.hot, store.spec.keeps_us[chunk.stream])
    for arrival, slots in matches(store, start, others, room):
        yield from gather_results(store, chunk, arrival, slots)
