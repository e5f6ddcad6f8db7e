"""Arrivals: the rows of one micro-batch and shard, in a fixed order.

Rows are sent in *blobs*: Arrow streams of bounded size. A blob is identified by its
*digest*, the SHA-256 of its bytes. Blobs are processed by stream and digest. So the
order in which a shuffle or a retried task delivers them does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, as_int64, hot_columns, in_microseconds
from shedjoin.columns.ipc import decode_rows
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import BoolArray, IntArray

_END_US = 1 << 62

CONTROL, CENSUS, HEARTBEAT = -1, -2, -3
"""Numbers that mark blobs without arrivals, in place of the number of a stream. Such a
blob is a control message (with the name of its file as digest), a census of the
arrivals of all shards, or an empty blob that tells a shard that time has passed."""
KEYLESS = -4
"""Number that marks blobs of the left stream whose rows have no key; that of the right
stream is one less. Only joins that emit rows without a partner get such blobs."""


class Blob(NamedTuple):
    """Packed rows of one stream or of the relation, or a blob without arrivals."""

    stream: int
    digest: bytes
    payload: bytes | pa.Buffer


class Chunk(NamedTuple):
    """Arrivals of one stream that are not late; ``seen`` counts late rows as well."""

    stream: int
    rows: pa.RecordBatch
    hot: Hot
    seen: int


def digest(payload: bytes | pa.Buffer) -> bytes:
    """The SHA-256 of a blob, which identifies it."""
    return hashlib.sha256(payload).digest()


def pieces_of(blobs: Iterable[Blob], stream: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one stream in the fixed order, blob by blob."""
    mine = (blob for blob in blobs if blob.stream == stream)
    for blob in sorted(mine, key=lambda blob: blob.digest):
        yield from decode_rows(blob.payload)


def row_counts(blobs: Iterable[Blob], streams: int) -> IntArray:
    """Count the rows of each stream, including late rows.

    This reads no values: the decoded batches share the memory of their blobs.
    """
    counts = np.zeros(streams, np.int64)
    for blob in (blob for blob in blobs if blob.stream >= 0):
        counts[blob.stream] += sum(r.num_rows for r in decode_rows(blob.payload))
    return counts


def chunks(blobs: Iterable[Blob], spec: JoinSpec, late_ms: int) -> Iterator[Chunk]:
    """Yield the arrivals in the fixed order, in bounded chunks, without late rows."""
    for stream in range(len(spec.streams)):
        for rows in chunked(pieces_of(blobs, stream)):
            yield timely(stream, rows, spec, late_ms)


def timely(stream: int, rows: pa.RecordBatch, spec: JoinSpec, late_ms: int) -> Chunk:
    """Keep the rows that are not late; a row is late if ``time <= late_ms``.

    Rows with times after the year 146,000 are also dropped, because the end of their
    window would overflow.
    """
    taken, hot = on_time(stream, rows, spec, late_ms)
    own = rows if taken is None else rows.take(pa.array(taken))
    return Chunk(stream, own, hot, rows.num_rows)


def on_time(
    stream: int, rows: pa.RecordBatch, spec: JoinSpec, late_ms: int
) -> tuple[IntArray | None, Hot]:
    """Positions of the rows that are not late (None for all), and their hot columns.

    Hot columns are key and time as integers.
    """
    hot = hot_columns(rows, spec.streams[stream], direct=spec.direct)
    taken = _is_on_time(stream, hot.time, spec, late_ms)
    if taken.all():
        return None, hot
    return np.flatnonzero(taken), Hot(hot.key[taken], hot.time[taken])


def keyless(
    blobs: Sequence[Blob], spec: JoinSpec, late_ms: int
) -> Iterator[tuple[int, pa.RecordBatch, IntArray]]:
    """Yield rows without a key in the fixed order: stream, rows, those not late."""
    for stream, own in enumerate(spec.streams):
        for rows in pieces_of(blobs, KEYLESS - stream):
            time = as_int64(in_microseconds(rows.column(own.time)))
            taken = _is_on_time(stream, time, spec, late_ms)
            yield stream, rows, np.flatnonzero(taken)


def _is_on_time(stream: int, time: IntArray, spec: JoinSpec, late_ms: int) -> BoolArray:
    taken: BoolArray = (time > spec.late_us(stream, late_ms)) & (time < _END_US)
    return taken
