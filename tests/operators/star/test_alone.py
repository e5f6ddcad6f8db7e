"""The join of one stream with a relation, as Spark opens it for each micro-batch."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from local.test_relation_join import INT, Pairs, as_known, relation_of, rows_of
from local.test_star_join import World, world
from shedjoin.errors import StateMismatchError
from shedjoin.local.delivery import Delivery
from shedjoin.local.shard import MemoryBlobs
from shedjoin.local.tables import stream_of
from shedjoin.operators.choice import holds_nothing, open_join
from shedjoin.operators.frame.join import Opening, Outcome, commit, stored_directory
from shedjoin.request.lookup import STREAM, lookup_of, lookup_spec
from shedjoin.request.relations import Relation
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import DIRECTORY, FACTS
from shedjoin.state.workspace import MemoryWorkspace


def spec() -> JoinSpec:
    rows = stream_of(rows_of([], INT).schema, STREAM)
    table = relation_of([], INT)
    relation = Relation(table, change=("op", "at"))
    columns = stream_of(table.schema, "relation", is_running=True)
    on = {"stream": "a", "relation": "key"}
    return lookup_spec(rows, columns, lookup_of(rows, columns, relation, on, "t"), 1)


def run(case: World, copies: random.Random | None) -> tuple[Pairs, MemoryBlobs]:
    """Open it from its copy at times, or always from what is stored."""
    join_spec, blobs, workspace = spec(), MemoryBlobs(), MemoryWorkspace()
    found: Pairs = Counter()
    for rows, changes in zip(case.left, case.changes, strict=True):
        directory = stored_directory(blobs, join_spec)
        token = "" if directory is None else directory.token
        kept = directory is not None and copies is not None and copies.random() < 0.7
        workspace = workspace if kept else MemoryWorkspace()
        opening = Opening(join_spec, 0, blobs, directory, workspace, opened=kept)
        join = open_join(opening)
        tables = rows_of(rows, INT), relation_of(changes, INT)
        arrived = [blob for _, blob in Delivery().deliver(tables, join_spec)]
        for batch in Outcome.of(join.step(arrived, 0)).results:
            ids, values = (batch.column(name).to_pylist() for name in ("id", "value"))
            found.update(zip(ids, values, strict=True))
        commit(join, blobs, token)
        after = stored_directory(blobs, join_spec)
        assert after is not None
        stored = {number for number, _ in blobs.items()} - {DIRECTORY, FACTS}
        assert holds_nothing(after, join_spec) == (not stored)
    return found, blobs


def test_copies_and_stored_state_are_the_same() -> None:
    for seed in range(30):
        case = world(seed, batches=12)
        found, blobs = run(case, random.Random(seed))
        again, same = run(case, None)
        assert found == again == as_known(case)
        assert blobs.digest() == same.digest()


def test_state_of_other_joins_is_refused() -> None:
    """Neither goes on with the other's, should they ever look alike."""
    case = World([[(0, 1, 100)]], [[]], [[("insert", 1, 1, 90)]])
    _, blobs = run(case, None)
    own = spec()
    directory = stored_directory(blobs, own)
    assert directory is not None
    opening = Opening(own, 0, blobs, directory, MemoryWorkspace())
    exact = replace(own, relation=None)
    with pytest.raises(StateMismatchError, match="one stream with a relation"):
        open_join(opening._replace(spec=exact))
    other = directory._replace(kind="exact", own={"runs": [], "ends": [0], "seed": 0})
    with pytest.raises(StateMismatchError, match=r"another kind of join \(exact\)"):
        open_join(opening._replace(directory=other))


def test_relation_rows_with_equal_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are joined by their true keys."""
    from shedjoin.columns import hashing, relating
    from shedjoin.local import tables

    def equal(columns: list[pa.Array]) -> object:
        return 0 * hashing.hash_rows(columns[:1]) + len(columns)

    def by_value(columns: list[pa.Array]) -> object:
        return equal(columns) if len(columns) == 1 else hashing.hash_rows(columns)

    monkeypatch.setattr(relating, "hash_rows", by_value)
    monkeypatch.setattr(tables, "hash_rows", by_value)
    for seed in range(10):
        case = world(seed)
        assert run(case, None)[0] == as_known(case)
