"""From record batches to blobs and back to arrivals."""

import hashlib
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.columns import batches as groups
from shedjoin.columns import packing
from shedjoin.columns.arrivals import Blob, Chunk, chunks
from shedjoin.columns.ipc import decode_rows
from shedjoin.columns.packing import pack
from shedjoin.columns.placing import shard_of
from support.shards import SCHEMA, Arrival, batch_of, blob_of, make_spec
from support.sides import LEFT, RIGHT, SIDES, Side

SPEC = make_spec(0, 0, shards=7)


def stream(rng: np.random.Generator, sizes: list[int]) -> list[pa.RecordBatch]:
    rows = [
        Arrival(int(k), n, n) for n, k in enumerate(rng.integers(0, 90, sum(sizes)))
    ]
    cuts = pairwise([0, *np.cumsum(sizes).tolist()])
    return [batch_of(rows)[a:b] for a, b in cuts]


def rows_of(blob: Blob) -> list[Arrival]:
    return [
        Arrival(*row)
        for batch in decode_rows(blob.payload)
        for row in zip(
            batch["key"].to_pylist(),
            batch["time"].cast(pa.int64()).to_pylist(),
            batch["id"].to_pylist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("shards", [1, 7, 300])
@pytest.mark.parametrize("sizes", [[500], [1, 0, 120, 3], [0], []])
def test_every_row_lands_once_in_the_shard_of_its_key(
    sizes: list[int], shards: int, rng: np.random.Generator
) -> None:
    spec = make_spec(0, 0, shards=shards)
    batches = stream(rng, sizes)
    packed = list(pack(batches, RIGHT, spec))
    landed = Counter(row.id for _, blob in packed for row in rows_of(blob))
    assert landed == Counter(range(sum(sizes)))
    for shard, blob in packed:
        keys = np.array([row.key for row in rows_of(blob)])
        assert blob.stream == RIGHT
        assert keys.size
        assert (shard_of(keys, shards) == shard).all()


def test_rows_keep_their_order_within_a_shard(rng: np.random.Generator) -> None:
    for _, blob in pack(stream(rng, [200, 200]), LEFT, SPEC):
        ids = [row.id for row in rows_of(blob)]
        assert ids == sorted(ids)


def test_equal_keys_meet_whatever_their_type_side_and_batch() -> None:
    keys = [0, 1, -1, 2**31 - 1, -(2**31)]
    places = []
    for side, kind in ((LEFT, pa.int64()), (RIGHT, pa.int32())):
        schema = SCHEMA.set(0, pa.field("key", kind))
        rows = batch_of([Arrival(key, 0, key) for key in keys]).cast(schema)
        packed = list(pack([rows[:2], rows[2:]], side, SPEC))
        places.append({row: s for s, blob in packed for row in rows_of(blob)})
    assert places[0] == places[1]
    assert len(places[0]) == len(keys)


def test_blobs_are_bounded(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    batches = stream(rng, [50] * 100)
    size = batches[0].nbytes
    monkeypatch.setattr(packing, "COLLECT_BYTES", 10 * size)
    for shards in (1, 7):
        packed = list(pack(batches, LEFT, make_spec(0, 0, shards=shards)))
        assert len(packed) == 10 * shards  # no more of them than need be
        assert all(len(rows_of(blob)) <= 500 for _, blob in packed)
        assert all(len(blob.payload) < 11 * size + 2000 for _, blob in packed)
        assert sum(len(rows_of(blob)) for _, blob in packed) == 5000


def test_same_rows_same_blobs(rng: np.random.Generator) -> None:
    batches = stream(rng, [300, 20])
    again = [pa.concat_batches([batches[0][:7], batches[0][7:]]), batches[1]]
    first, second = (list(pack(b, LEFT, SPEC)) for b in (batches, again))
    assert [(s, blob.digest) for s, blob in first] == [(s, b.digest) for s, b in second]
    assert all(b.digest == hashlib.sha256(b.payload).digest() for _, b in first)


def some_blobs(count: int) -> list[Blob]:
    rng = random.Random(count)
    return [
        blob_of(side, [Arrival(n, rng.randrange(9000), 10 * n + i) for i in range(5)])
        for n in range(count)
        for side in SIDES
    ]


def rows_in(found: list[Chunk], side: Side) -> list[int]:
    return [n for c in found if c.stream == side for n in c.rows["id"].to_pylist()]


@pytest.mark.parametrize("chunk_bytes", [1, 500, 1 << 20])
def test_order_of_delivery_does_not_matter(
    chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "CHUNK_BYTES", chunk_bytes)
    blobs = some_blobs(12)
    found = list(chunks(blobs, SPEC, 0))
    for seed in range(5):
        shuffled = random.Random(seed).sample(blobs, len(blobs))
        again = list(chunks(shuffled, SPEC, 0))
        assert [(c.stream, c.seen) for c in again] == [
            (c.stream, c.seen) for c in found
        ]
        assert all(a.rows.equals(b.rows) for a, b in zip(again, found, strict=True))
    assert sorted(rows_in(found, LEFT)) == sorted(rows_in(found, RIGHT))
    assert len(rows_in(found, LEFT)) == 60
    sides = [chunk.stream for chunk in found]
    assert sides == sorted(sides)
    bound = chunk_bytes + max(c.rows.nbytes for c in chunks(blobs[:1], SPEC, 0))
    assert all(chunk.rows.nbytes <= bound for chunk in found)
    assert len(found) == {1: 24, 500: 6, 1 << 20: 2}[chunk_bytes]


def test_late_rows_are_left_out_and_counted() -> None:
    rows = [Arrival(9, time, time) for time in (2999, 3000, 3001, 3002, -1)]
    (chunk,) = chunks([blob_of(LEFT, rows)], SPEC, 3)
    assert (chunk.stream, chunk.seen) == (LEFT, 5)
    assert chunk.rows["id"].to_pylist() == [3001, 3002]
    assert chunk.hot.time.tolist() == [3001, 3002]
    assert chunk.hot.key.tolist() == [9, 9]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_is_in_microseconds_whatever_its_unit(unit: str) -> None:
    schema = SCHEMA.set(1, pa.field("time", pa.timestamp(unit)))
    rows = batch_of([Arrival(1, 4_000_000, 0)]).cast(schema)
    ((_, blob),) = pack([rows], LEFT, SPEC)
    (chunk,) = chunks([blob], SPEC, 0)
    assert chunk.hot.time.tolist() == [4_000_000]
    assert not chunk.hot.time.flags.writeable
