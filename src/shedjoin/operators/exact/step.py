"""One micro-batch of one shard: the whole join, without an engine."""

from __future__ import annotations

from collections.abc import Sequence

from shedjoin.columns.arrivals import Blob, chunks
from shedjoin.operators.exact.matches import joined_rows
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.join import Step
from shedjoin.spec.report import Report


def exact_step(store: WindowStore, blobs: Sequence[Blob], watermark_ms: int) -> Step:
    """Join the arrivals of a micro-batch and let go of what has expired.

    Rows are late by the watermark of the micro-batch *before*, which the store
    remembers; residents expire by the present one. Both are Spark's own rules. Every
    chunk first meets the residents of the other streams, then becomes resident itself,
    so a result is found once, by whichever of its rows comes last.
    """
    store.tidy()
    before = [store.residents(stream) for stream in store.streams]
    seen, stored = [0] * len(before), [0] * len(before)
    matched = 0
    store.longest_chain = 0
    first_new = store.payload.next_id
    for chunk in chunks(blobs, store.spec, store.watermark_ms):
        seen[chunk.stream] += chunk.seen
        stored[chunk.stream] += chunk.rows.num_rows
        if chunk.rows.num_rows:
            for batch in joined_rows(store, chunk):
                matched += batch.num_rows
                yield batch
            store.insert(chunk.stream, chunk.rows, chunk.hot)
    ahead = store.ahead(first_new, watermark_ms)
    store.expire(watermark_ms)
    now = [store.residents(stream) for stream in store.streams]
    return Report(
        seen=tuple(seen),
        late=tuple(a - b for a, b in zip(seen, stored, strict=True)),
        ahead=ahead,
        stored=tuple(stored),
        expired=tuple(a + b - c for a, b, c in zip(before, stored, now, strict=True)),
        resident=tuple(now),
        shed=(0,) * len(now),
        matched=matched,
        importance=float(matched),
        segments=len(store.payload.segments),
        state_bytes=store.nbytes,
        longest_chain=store.longest_chain,
        watermark_ms=store.watermark_ms,
    )
