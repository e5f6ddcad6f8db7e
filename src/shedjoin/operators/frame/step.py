"""Joins one micro-batch, if all residents are kept until they expire."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

import pyarrow as pa

from shedjoin.columns.arrivals import Blob, Chunk, chunks
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.payload import Payload

TakenIn: TypeAlias = Callable[[Chunk], Iterator[pa.RecordBatch]]
"""Function that joins arrivals with the residents of all other streams, in batches, and
then makes the arrivals residents."""


class WindowedStore(Protocol):
    """Residents of all streams, which are kept until they expire."""

    spec: JoinSpec
    payload: Payload
    watermark_ms: int
    longest_chain: int

    @property
    def nbytes(self) -> int:
        """Bytes of payload and index."""

    def residents(self, stream: int) -> int:
        """Count the rows of a stream that an arrival can still match."""

    def tidy(self) -> None:
        """Rewrite segments that are too small, or hold few residents."""

    def ahead(self, first_new: int, watermark_ms: int) -> int:
        """Count new rows more than a window ahead of the time all streams reached.

        ``first_new`` is the number of the first segment of the micro-batch.
        """

    def expire(self, watermark_ms: int) -> None:
        """Remove residents that no arrival can match any more."""


@as_step
def windowed_step(
    store: WindowedStore,
    taken_in: TakenIn,
    blobs: Sequence[Blob],
    watermark_ms: int,
    admitted: Callable[[Chunk], Chunk] | None = None,
    ending: Callable[[int], Iterator[pa.RecordBatch]] | None = None,
) -> Running:
    """Join the arrivals of a micro-batch and remove expired residents.

    Arrivals are late if they are behind the watermark of the micro-batch *before*,
    which the store remembers. Residents expire by the present watermark. Spark has the
    same rules. Every chunk of arrivals is first joined with the residents of the other
    streams. Then the arrivals become residents. So each result is found once, when the
    last of its rows comes. ``admitted`` removes rows from a chunk. The removed rows are
    counted as shed, and are neither joined nor stored. ``ending`` yields the results
    that residents bring when they expire. Its argument is the number of the first
    segment of the micro-batch.
    """
    store.tidy()
    streams = range(len(store.spec.streams))
    before = [store.residents(stream) for stream in streams]
    seen, stored, shed = ([0] * len(before) for _ in range(3))
    matched = 0
    store.longest_chain = 0
    first_new = store.payload.next_id
    for chunk in chunks(blobs, store.spec, store.watermark_ms):
        seen[chunk.stream] += chunk.seen
        if admitted is not None:
            came = chunk.rows.num_rows
            chunk = admitted(chunk)  # noqa: PLW2901
            shed[chunk.stream] += came - chunk.rows.num_rows
        stored[chunk.stream] += chunk.rows.num_rows
        if chunk.rows.num_rows:
            for batch in taken_in(chunk):
                matched += batch.num_rows
                yield batch
    ahead = store.ahead(first_new, watermark_ms)
    for batch in () if ending is None else ending(first_new):
        matched += batch.num_rows
        yield batch
    store.expire(watermark_ms)
    now = [store.residents(stream) for stream in streams]
    return Report(
        seen=tuple(seen),
        late=tuple(a - b - c for a, b, c in zip(seen, stored, shed, strict=True)),
        ahead=ahead,
        stored=tuple(stored),
        expired=tuple(a + b - c for a, b, c in zip(before, stored, now, strict=True)),
        resident=tuple(now),
        shed=tuple(shed),
        unadmitted=sum(shed),
        matched=matched,
        importance=float(matched),
        segments=len(store.payload.segments),
        state_bytes=store.nbytes,
        longest_chain=store.longest_chain,
        watermark_ms=store.watermark_ms,
    )
