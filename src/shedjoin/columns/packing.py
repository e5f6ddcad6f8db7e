"""Packing: rows of one stream are split by shard and encoded as blobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.arrivals import KEYLESS, Blob, digest
from shedjoin.columns.batches import PIECE_BYTES, grouped, pieces
from shedjoin.columns.census import Counter, is_shared, may_share
from shedjoin.columns.hot import as_int64, hot_columns, in_microseconds
from shedjoin.columns.ipc import encode_rows
from shedjoin.columns.placing import Placed, placed, shard_of
from shedjoin.columns.routes import Side
from shedjoin.columns.schema import plain
from shedjoin.spec.relation import LEFT_KEY, RELATION, RIGHT_KEY
from shedjoin.spec.streams import JoinSpec

COLLECT_BYTES = 16 << 20
"""Rows are collected up to about this size before they are split by shard."""


def pack(
    batches: Iterable[pa.RecordBatch],
    stream: int,
    spec: JoinSpec,
    routes: Side | None = None,
    *,
    steered: bool = False,
) -> Iterator[tuple[int, Blob]]:
    """Yield the blobs of a stream of record batches, each with its shard.

    ``routes`` are given if the join has a relation that does not change. Rows whose key
    is not in the relation are then left out. If shards share a budget, a census of all
    rows follows for every shard. The same holds if a control message may set such a
    budget (``steered``).
    """
    shared = is_shared(spec) or (steered and may_share(spec))
    in_bytes = spec.shedding is not None and spec.shedding.budget.in_bytes
    has_sizes = in_bytes or steered  # a control message may set a budget in bytes
    counter = Counter(spec, stream, has_sizes=has_sizes) if shared else None
    for arrived in _collected(batches):
        rows = arrived
        if spec.preserves[stream]:
            rows, keyless = _by_key(arrived, spec.streams[stream].keys)
            # By a value of the row: a repeated task places each row as before.
            time = in_microseconds(keyless.column(spec.streams[stream].time))
            where = Placed(None, as_int64(time) % spec.shards)
            yield from _split(keyless, where, KEYLESS - stream, spec.shards)
        hot = hot_columns(rows, spec.streams[stream], direct=spec.direct)
        if routes is not None:
            yield from _split(rows, routes.placed(hot.key), stream, spec.shards)
            continue
        if counter is not None:
            counter.add(rows, hot)
        where = placed(rows, hot, stream, spec)
        if where.shard.size:
            yield from _split(rows, where, stream, spec.shards)
        else:
            for blob in _encoded(rows, stream):
                yield from ((number, blob) for number in range(spec.shards))
    census = None if counter is None else counter.blob()
    if census is not None:
        yield from ((number, census) for number in range(spec.shards))


def pack_relation(
    batches: Iterable[pa.RecordBatch], spec: JoinSpec
) -> Iterator[tuple[int, Blob]]:
    """Yield the blobs of packed relation rows, each with the shard of its right key.

    If only one stream is joined with the relation, relation rows get the shard of their
    left key instead: rows of the stream with this key are in the same shard.
    """
    key = LEFT_KEY if spec.placement == "key" else RIGHT_KEY
    for rows in _collected(batches):
        shard = shard_of(as_int64(rows.column(key)), spec.shards)
        yield from _split(rows, Placed(None, shard), RELATION, spec.shards)


def _collected(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for group in grouped(batches, COLLECT_BYTES):
        yield plain(pa.concat_batches(group))


def _by_key(
    rows: pa.RecordBatch, keys: Iterable[str]
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Divide rows into those with a key, and those of which a key column is null."""
    has_key = reduce(pc.and_, (pc.is_valid(rows.column(name)) for name in keys))
    return rows.filter(has_key), rows.filter(pc.invert(has_key))


def _split(
    rows: pa.RecordBatch, where: Placed, stream: int, shards: int
) -> Iterator[tuple[int, Blob]]:
    """Yield the blobs of rows whose shards are known."""
    for number, part in _parts(rows, where, shards):
        yield from ((number, blob) for blob in _encoded(part, stream))


def _parts(
    rows: pa.RecordBatch, where: Placed, shards: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of each shard that gets at least one row."""
    shard, small = where.shard, np.min_scalar_type(shards)
    order = np.argsort(shard.astype(small), kind="stable")
    cuts = np.searchsorted(shard[order], np.arange(shards + 1))
    if where.row is None:  # one take for all shards, not a copy for each
        rows = rows.take(pa.array(order))
    for number in np.flatnonzero(np.diff(cuts)).tolist():
        start, end = cuts[number], cuts[number + 1]
        if where.row is None:
            yield number, rows.slice(start, end - start)
        else:
            yield number, rows.take(pa.array(where.row[order[start:end]]))


def _encoded(rows: pa.RecordBatch, stream: int) -> Iterator[Blob]:
    for piece in pieces(rows, PIECE_BYTES):
        payload = encode_rows([piece], piece.schema)
        yield Blob(stream, digest(payload), payload)
