"""Arrivals: the rows of one micro-batch and shard, in an order of their own.

Rows travel in *blobs*, Arrow streams of bounded size. A blob is known by the SHA-256
of its bytes, and blobs are taken in the order (side, digest): the order in which a
shuffle or a retried task delivers them does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.core.batches import chunked
from shedjoin.core.codec import decode_rows
from shedjoin.core.hot import Hot, hot_columns
from shedjoin.core.spec import JoinSpec
from shedjoin.types import SIDES, Side


class Blob(NamedTuple):
    """Packed rows of one side."""

    side: Side
    digest: bytes
    payload: bytes | pa.Buffer


class Chunk(NamedTuple):
    """Arrivals of one side that are not late, with how many came and were late."""

    side: Side
    rows: pa.RecordBatch
    hot: Hot
    seen: int


def digest(payload: bytes | pa.Buffer) -> bytes:
    """Identity of a blob."""
    return hashlib.sha256(payload).digest()


def chain(token: str, blobs: Iterable[Blob], watermark_ms: int) -> str:
    """Identity of the state that follows state ``token`` after these blobs."""
    state = hashlib.sha256(f"{token} {watermark_ms} ".encode())
    for blob in sorted(blobs, key=_order):
        state.update(bytes([blob.side]) + blob.digest)
    return state.hexdigest()


def chunks(blobs: Iterable[Blob], spec: JoinSpec, late_ms: int) -> Iterator[Chunk]:
    """Arrivals in their own order, late ones (``time <= late_ms``) left out."""
    ordered = sorted(blobs, key=_order)
    for side in SIDES:
        mine = (blob.payload for blob in ordered if blob.side == side)
        batches = (batch for payload in mine for batch in decode_rows(payload))
        for rows in chunked(batches):
            yield _chunk(side, rows, spec, late_ms)


def _order(blob: Blob) -> tuple[int, bytes]:
    return blob.side, blob.digest


def _chunk(side: Side, rows: pa.RecordBatch, spec: JoinSpec, late_ms: int) -> Chunk:
    seen = rows.num_rows
    hot = hot_columns(rows, spec.sides[side], direct=spec.direct)
    on_time = hot.time > 1000 * late_ms
    if not on_time.all():
        rows = rows.take(pa.array(np.flatnonzero(on_time)))
        hot = hot_columns(rows, spec.sides[side], direct=spec.direct)
    return Chunk(side, rows, hot, seen)
