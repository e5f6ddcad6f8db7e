"""One micro-batch of one shard: the whole join, without an engine."""

from __future__ import annotations

from collections.abc import Sequence

from shedjoin.columns.arrivals import Blob, chunks
from shedjoin.operators.exact.matches import joined_rows
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.join import Step
from shedjoin.spec.report import Report
from shedjoin.types import LEFT, RIGHT, SIDES


def exact_step(store: WindowStore, blobs: Sequence[Blob], watermark_ms: int) -> Step:
    """Join the arrivals of a micro-batch and let go of what has expired.

    Rows are late by the watermark of the micro-batch *before*, which the store
    remembers; residents expire by the present one. Both are Spark's own rules. Every
    chunk first meets the residents of the other side, then becomes resident itself,
    so a pair is found once, by whichever of its rows comes second.
    """
    store.tidy()
    before = [store.residents(side) for side in SIDES]
    seen, stored = [0, 0], [0, 0]
    matched = 0
    store.longest_chain = 0
    first_new = store.payload.next_id
    for chunk in chunks(blobs, store.spec, store.watermark_ms):
        seen[chunk.side] += chunk.seen
        stored[chunk.side] += chunk.rows.num_rows
        if chunk.rows.num_rows:
            for batch in joined_rows(store, chunk):
                matched += batch.num_rows
                yield batch
            store.insert(chunk.side, chunk.rows, chunk.hot)
    ahead = store.ahead(first_new, watermark_ms)
    store.expire(watermark_ms)
    now = [store.residents(side) for side in SIDES]
    gone = [before[side] + stored[side] - now[side] for side in SIDES]
    return Report(
        seen_left=seen[LEFT],
        seen_right=seen[RIGHT],
        late_left=seen[LEFT] - stored[LEFT],
        late_right=seen[RIGHT] - stored[RIGHT],
        ahead=ahead,
        stored_left=stored[LEFT],
        stored_right=stored[RIGHT],
        expired_left=gone[LEFT],
        expired_right=gone[RIGHT],
        resident_left=now[LEFT],
        resident_right=now[RIGHT],
        matched=matched,
        importance=float(matched),
        segments=len(store.payload.segments),
        state_bytes=store.nbytes,
        longest_chain=store.longest_chain,
        watermark_ms=store.watermark_ms,
    )
