"""Arrivals: the rows of one micro-batch and shard, in a fixed order.

Rows travel in *blobs*, Arrow streams of bounded size. A blob is identified by the
SHA-256 of its bytes, and blobs are taken in the order (stream, digest). So the order in
which a shuffle or a retried task delivers them does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.batches import chunked
from shedjoin.columns.hot import Hot, hot_columns
from shedjoin.columns.ipc import decode_rows
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray

_END_US = 1 << 62

CONTROL, CENSUS, HEARTBEAT = -1, -2, -3
"""Numbers of blobs without rows, in place of that of a stream: a control message, whose
digest is the name of its file; a census of the arrivals of all shards; and an empty
blob, which only tells a shard that time has passed."""


class Blob(NamedTuple):
    """Packed rows of one stream or relation, or what a negative number stands for."""

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
    """Count the rows of each stream, late ones included.

    This reads no values: the decoded batches share the memory of their blobs.
    """
    counts = np.zeros(streams, np.int64)
    for blob in (blob for blob in blobs if blob.stream >= 0):
        counts[blob.stream] += sum(r.num_rows for r in decode_rows(blob.payload))
    return counts


def chunks(blobs: Iterable[Blob], spec: JoinSpec, late_ms: int) -> Iterator[Chunk]:
    """Yield the arrivals in the fixed order, in bounded chunks, without late ones."""
    for stream in range(len(spec.streams)):
        for rows in chunked(pieces_of(blobs, stream)):
            yield timely(stream, rows, spec, late_ms)


def timely(stream: int, rows: pa.RecordBatch, spec: JoinSpec, late_ms: int) -> Chunk:
    """Keep the rows that are not late; a row is late if ``time <= late_ms``.

    Rows with times after the year 146,000 are dropped as well: the end of their window
    would overflow.
    """
    taken, hot = on_time(stream, rows, spec, late_ms)
    own = rows if taken is None else rows.take(pa.array(taken))
    return Chunk(stream, own, hot, rows.num_rows)


def on_time(
    stream: int, rows: pa.RecordBatch, spec: JoinSpec, late_ms: int
) -> tuple[IntArray | None, Hot]:
    """Positions of the rows on time, or None if all are; and their hot columns.

    Hot columns are key and time as integers.
    """
    hot = hot_columns(rows, spec.streams[stream], direct=spec.direct)
    late_us = spec.late_us(stream, late_ms)
    taken = (hot.time > late_us) & (hot.time < _END_US)
    if taken.all():
        return None, hot
    return np.flatnonzero(taken), Hot(hot.key[taken], hot.time[taken])
