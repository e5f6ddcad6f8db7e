"""One micro-batch of one shard: the whole join, without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from shedjoin.core.arrivals import Blob, chunks
from shedjoin.core.matches import joined_rows
from shedjoin.core.report import Report
from shedjoin.core.store import WindowStore
from shedjoin.types import LEFT, RIGHT


class Outcome(NamedTuple):
    """What a micro-batch gave: joined rows and counts; the store holds the rest."""

    results: list[pa.RecordBatch]
    report: Report


def step(store: WindowStore, blobs: Sequence[Blob], watermark_ms: int) -> Outcome:
    """Join the arrivals of a micro-batch and let go of what has expired.

    Rows are late by the watermark of the micro-batch *before*, which the store
    remembers; residents expire by the present one. Both are Spark's own rules. Every
    chunk first meets the residents of the other side, then becomes resident itself,
    so a pair is found once, by whichever of its rows comes second.
    """
    store.tidy()
    before = [store.residents(side) for side in (LEFT, RIGHT)]
    seen, stored = [0, 0], [0, 0]
    results: list[pa.RecordBatch] = []
    for chunk in chunks(blobs, store.spec, store.watermark_ms):
        seen[chunk.side] += chunk.seen
        stored[chunk.side] += chunk.rows.num_rows
        if chunk.rows.num_rows:
            results.extend(joined_rows(store, chunk))
            store.insert(chunk.side, chunk.rows, chunk.hot)
    store.expire(watermark_ms)
    now = [store.residents(side) for side in (LEFT, RIGHT)]
    gone = [before[side] + stored[side] - now[side] for side in (LEFT, RIGHT)]
    report = Report(
        seen_left=seen[LEFT],
        seen_right=seen[RIGHT],
        late_left=seen[LEFT] - stored[LEFT],
        late_right=seen[RIGHT] - stored[RIGHT],
        stored_left=stored[LEFT],
        stored_right=stored[RIGHT],
        expired_left=gone[LEFT],
        expired_right=gone[RIGHT],
        resident_left=now[LEFT],
        resident_right=now[RIGHT],
        matched=sum(batch.num_rows for batch in results),
        importance=float(sum(batch.num_rows for batch in results)),
        segments=sum(map(len, store.segments)),
        state_bytes=store.nbytes,
        watermark_ms=store.watermark_ms,
    )
    return Outcome(results, report)
