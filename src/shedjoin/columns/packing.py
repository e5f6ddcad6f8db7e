"""Packing: the rows of one stream, split by shard into blobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, digest
from shedjoin.columns.batches import PIECE_BYTES, grouped, pieces
from shedjoin.columns.hot import hot_columns
from shedjoin.columns.ipc import encode_rows
from shedjoin.columns.mixing import mixed_bits
from shedjoin.columns.schema import plain
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray

COLLECT_BYTES = 16 << 20
"""Rows are collected up to about this size before they are split by shard."""


def shard_of(key: IntArray, shards: int) -> npt.NDArray[np.int64]:
    """Choose the shard of each key: the high bits of its mixed bits.

    The index takes the low bits.
    """
    high = mixed_bits(key.view(np.uint64)) >> np.uint64(33)
    return ((high * np.uint64(shards)) >> np.uint64(31)).view(np.int64)


def pack(
    batches: Iterable[pa.RecordBatch], stream: int, spec: JoinSpec
) -> Iterator[tuple[int, Blob]]:
    """Blobs of a stream of record batches, each with the shard it belongs to."""
    for group in grouped(batches, COLLECT_BYTES):
        yield from _split(group, stream, spec)


def _split(
    batches: list[pa.RecordBatch], stream: int, spec: JoinSpec
) -> Iterator[tuple[int, Blob]]:
    rows = plain(pa.concat_batches(batches))
    shard = shard_of(
        hot_columns(rows, spec.streams[stream], direct=spec.direct).key, spec.shards
    )
    small = np.min_scalar_type(spec.shards)
    order = np.argsort(shard.astype(small), kind="stable")
    rows = rows.take(pa.array(order))
    cuts = np.searchsorted(shard[order], np.arange(spec.shards + 1))
    for number in np.flatnonzero(np.diff(cuts)):
        part = rows.slice(cuts[number], cuts[number + 1] - cuts[number])
        for piece in pieces(part, PIECE_BYTES):
            payload = encode_rows([piece], piece.schema)
            yield int(number), Blob(stream, digest(payload), payload)
