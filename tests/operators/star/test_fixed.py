"""A relation that is no part of the state, as workers of Spark keep it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.packing import pack
from shedjoin.columns.routes import Routes
from shedjoin.errors import StateMismatchError
from shedjoin.local.shard import MemoryBlobs
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, Outcome, commit, stored_directory
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.spec.keys import OutputColumn
from shedjoin.spec.relation import (
    ALWAYS_US,
    BEGIN,
    DELETED,
    END,
    LEFT_KEY,
    RIGHT_KEY,
    RelationSpec,
)
from shedjoin.spec.streams import JoinSpec, StreamSpec
from shedjoin.state.workspace import MemoryWorkspace
from shedjoin.types import IntArray

SHARDS = 3
COLUMNS = (("k", "int64"), ("t", "timestamp[us]"), ("id", "int64"))
STREAMS = tuple(
    StreamSpec(name, COLUMNS, ("k",), "t", 100) for name in ("left", "right")
)
OUTPUT = (OutputColumn(0, "id", "left"), OutputColumn(1, "id", "right"))
RELATED = RelationSpec((), (("a",), ("b",)), fixed=True)
SPEC = JoinSpec(STREAMS, SHARDS, True, OUTPUT, relation=RELATED)


def packed(left: IntArray, right: IntArray) -> pa.RecordBatch:
    size = left.size
    return pa.record_batch(
        {
            LEFT_KEY: left,
            RIGHT_KEY: right,
            BEGIN: np.full(size, -ALWAYS_US),
            END: np.full(size, ALWAYS_US),
            DELETED: np.zeros(size, np.bool_),
        }
    )


@pytest.mark.parametrize("keys", [4, 200])
def test_rows_meet_in_the_shards_of_their_relation_rows(keys: int) -> None:
    """Few keys hang together; many fall into components."""
    rng = np.random.default_rng(keys)
    left = rng.integers(0, keys, 40) if keys < 9 else np.arange(keys)
    right = rng.integers(0, keys, left.size) if keys < 9 else np.arange(keys)
    rows = packed(left, right)
    routes = Routes.of(rows, SHARDS)
    assert routes.together == (keys > 9)
    blobs = [MemoryBlobs() for _ in range(SHARDS)]
    relations = [
        FixedRelation(rows.take(pa.array(np.flatnonzero(routes.shard == n))), "one")
        for n in range(SHARDS)
    ]
    met: Counter[tuple[int, int]] = Counter()
    keyed: list[IntArray] = []
    for batch in range(2):
        arrived: list[tuple[int, Blob]] = []
        for stream in (0, 1):
            key = rng.integers(0, keys + 2, 30)
            keyed.append(key)
            time = pa.array(1000 + 10 * batch + np.arange(30) % 7, pa.timestamp("us"))
            ids = np.arange(30) + 30 * batch
            table = pa.record_batch({"k": key, "t": time, "id": ids})
            arrived += pack([table], stream, SPEC, routes.sides[stream])
        for shard in range(SHARDS):
            mine = [blob for place, blob in arrived if place == shard]
            directory = stored_directory(blobs[shard], SPEC)
            opening = Opening(SPEC, shard, blobs[shard], directory, MemoryWorkspace())
            join = open_join(opening._replace(relation=relations[shard]))
            outcome = Outcome.of(join.step(mine, 0))
            commit(join, blobs[shard], "" if directory is None else directory.token)
            for found in outcome.results:
                met.update(zip(*(c.to_pylist() for c in found.columns), strict=True))
    lefts, rights = np.concatenate(keyed[::2]), np.concatenate(keyed[1::2])
    pairs = Counter(zip(left.tolist(), right.tolist(), strict=True))
    want = Counter(
        {
            (r, s): pairs[a, b]
            for r, a in enumerate(lefts.tolist())
            for s, b in enumerate(rights.tolist())
            if pairs[a, b]
        }
    )
    assert met == want
    assert met.total() > 15


def test_another_relation_is_refused() -> None:
    one, other = (
        FixedRelation(packed(np.array([1]), np.array([1])), name)
        for name in ("one", "other")
    )
    blobs = MemoryBlobs()
    opening = Opening(SPEC, 0, blobs, None, MemoryWorkspace(), relation=one)
    join = open_join(opening)
    Outcome.of(join.step([], 0))
    commit(join, blobs, "")
    again = opening._replace(directory=stored_directory(blobs, SPEC), relation=other)
    with pytest.raises(StateMismatchError, match="stored under another relation"):
        open_join(again)
