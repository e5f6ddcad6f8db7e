"""The join of one stream with a relation against its definition, row by row."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Options, local
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from support.related import relation_join

from .test_star_join import SECOND, Fact, World, facts_of, world

INT = pa.int64()
Rows = list[tuple[int, int, int]]
Pairs = Counter[tuple[int, str | None]]


def times(seconds: Any) -> pa.Array:  # noqa: ANN401
    us = [None if s is None or s == np.inf else round(SECOND * s) for s in seconds]
    return pa.array(us, pa.timestamp("us"))


def told(value: int) -> str | None:
    """What a relation row tells; nothing is a value, too."""
    return None if value == 3 else f"value {value}"


def rows_of(rows: Rows, kind: pa.DataType) -> pa.Table:
    number, key, at = zip(*rows, strict=True) if rows else ((), (), ())
    keys = pa.array(map(str, key) if kind == pa.string() else key, kind)
    return pa.table({"id": pa.array(number, pa.int64()), "a": keys, "t": times(at)})


def relation_of(changes: list[Any], kind: pa.DataType) -> pa.Table:
    what, key, value, at = zip(*changes, strict=True) if changes else ((), (), (), ())
    keys = pa.array(map(str, key) if kind == pa.string() else key, kind)
    values = pa.array(map(told, value), pa.string())
    said = pa.array(what, pa.string())
    return pa.table({"key": keys, "value": values, "op": said, "at": times(at)})


def joined(case: World, kind: pa.DataType = INT, **settings: Any) -> local.Run:  # noqa: ANN401
    batches = [
        (rows_of(rows, kind), relation_of(changes, kind))
        for rows, changes in zip(case.left, case.changes, strict=True)
    ]
    settings = {"lateness": "10 seconds"} | settings
    return relation_join(
        batches,
        relation_of([], kind),
        on={"a": "key"},
        time="t",
        change=("op", "at"),
        **settings,
    )


def found(run: local.Run) -> Pairs:
    columns = (run.results[name].to_pylist() for name in ("id", "value"))
    return Counter(zip(*columns, strict=True))


def by_definition(rows: Rows, facts: list[Fact]) -> Pairs:
    return Counter(
        (number, told(f.b))
        for number, key, at in rows
        for f in facts
        if f.a == key and f.begin <= at < f.end
    )


def as_known(case: World) -> Pairs:
    """Each row with the relation as it is when the row comes."""
    pairs: Pairs = Counter()
    for batch, rows in enumerate(case.left):
        pairs += by_definition(rows, facts_of(case.changes[: batch + 1]))
    return pairs


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_a_changing_relation(first: int) -> None:
    results = missed = 0
    for seed in range(first, first + 50):
        case = world(seed, batches=10, late=seed % 3)
        kind = (pa.int64(), pa.string(), pa.int16())[seed % 3]
        run = joined(case, kind, shards=1 + seed % 3, restart_every=seed % 4)
        assert found(run) == as_known(case), seed
        whole = by_definition([*chain(*case.left)], facts_of(case.changes))
        # Nothing is given that is not so in the end, and what is missed was told of.
        assert found(run) <= whole
        missed += (whole - found(run)).total()
        assert run.report.changes_late > 0 or found(run) == whole
        assert run.report.changes == sum(map(len, case.changes))
        assert run.report.seen == (sum(map(len, case.left)),)
        results += found(run).total()
    assert results > 200
    assert missed > 0


def test_changes_that_come_in_time() -> None:
    """The result is that of the whole relation, and no change is late."""
    for seed in range(20):
        case = world(seed, late=seed % 3)
        # Rows of micro-batch n come to second 104 + 5 n.
        changes = [
            [(what, a, b, max(at, 100 + 5 * batch)) for what, a, b, at in own]
            for batch, own in enumerate(case.changes)
        ]
        run = joined(World(case.left, case.right, changes))
        whole = by_definition([*chain(*case.left)], facts_of(changes))
        assert found(run) == whole, seed
        assert run.report.changes_late == 0


def test_restarts_and_the_order_of_delivery_change_nothing() -> None:
    for seed in range(20):
        case = world(seed, batches=14, late=seed % 3)
        one, *others = (
            joined(case, restart_every=every, blobs=blobs, shuffle_seed=seed)
            for every, blobs in ((0, 1), (1, 1), (3, 2))
        )
        for other in others:
            assert found(other) == found(one)
            assert [b.report.changes_late for b in other.batches] == [
                b.report.changes_late for b in one.batches
            ]
        assert others[0].state_digests == one.state_digests


@pytest.mark.parametrize("every", [0, 1])
def test_the_state_is_the_relation(every: int) -> None:
    """However many rows come; and relation rows go that have ended."""
    count = 3_000
    inserts = [("insert", n, n % 7, 90) for n in range(count)]
    deletes = [("delete", n, n % 7, 120) for n in range(count - 1)]
    rows: list[Rows] = [
        [(1000 * batch + n, count - 1, 100 + 10 * batch) for n in range(200)]
        for batch in range(8)
    ]
    changes = [inserts, deletes, *([[]] * 6)]
    run = joined(World(rows, rows, changes), lateness="0 seconds", restart_every=every)
    assert run.report.matched == run.report.seen[0] == 8 * 200
    sizes = [batch.report.state_bytes for batch in run.batches]
    assert run.batches[0].report.relation == count
    assert run.batches[-1].report.relation == 1
    assert sizes[-1] == sizes[-2] < sizes[0] / 2


def test_late_rows_are_counted() -> None:
    """What they would have been joined with may be forgotten.

    As in Spark, rows are late by the watermark of the micro-batch before.
    """
    rows: list[Rows] = [[(0, 1, 100)], [(3, 9, 100)], [(2, 1, 60)]]
    changes = [[("insert", 1, 1, 40)], [], []]
    run = joined(World(rows, rows, changes), lateness="0 seconds")
    assert found(run) == Counter({(0, "value 1"): 1})
    assert [batch.report.late for batch in run.batches] == [(0,), (0,), (1,)]
    assert found(joined(World(rows, rows, changes), lateness="1 hour")).total() == 2


def test_late_changes_are_counted() -> None:
    rows: list[Rows] = [[(0, 1, 100)], [(1, 1, 110)], []]
    insert, delete = ("insert", 1, 1, 90), ("delete", 1, 1, 95)
    for changes, pairs, late in (
        ([[insert], [], []], {0, 1}, 0),
        ([[], [insert], []], {1}, 1),
        ([[], [("insert", 1, 1, 105)], []], {1}, 0),
        ([[insert], [delete], []], {0}, 1),
        ([[insert], [], [("delete", 1, 1, 111)]], {0, 1}, 0),
        ([[insert, delete], [], []], set(), 0),
    ):
        run = joined(World(rows, rows, changes))
        assert {number for number, _ in found(run)} == pairs
        assert run.report.changes_late == late


def test_relation_rows_are_told_apart_by_all_columns() -> None:
    """Also by what is null: a deletion ends no other row of its key."""
    kind = pa.int64()
    inserts = relation_of([("insert", 1, n, 90) for n in range(5)], kind)
    run = relation_join(
        [
            (rows_of([(0, 1, 100)], kind), inserts),
            (
                rows_of([(1, 1, 110)], kind),
                relation_of([("delete", 1, 3, 105)], kind),
            ),
        ],
        inserts.slice(0, 0),
        on={"a": "key"},
        time="t",
        change=("op", "at"),
    )
    values = [told(n) for n in range(5)]
    want = Counter((0, value) for value in values)
    want.update((1, value) for value in values if value is not None)
    assert found(run) == want


def test_ends_that_change() -> None:
    """A row that is sent again with the same begin gets another end."""

    def sent(end: int | None) -> pa.Table:
        keys = {"a": [1], "value": ["x"]}
        return pa.table(keys | {"from": times([90]), "to": times([end])})

    rows = [rows_of([(n, 1, t)], pa.int64()) for n, t in enumerate((100, 110, 120))]
    for ends, ids in (
        ((None, None, None), [0, 1, 2]),
        ((None, 105, 105), [0]),
        ((95, 115, 115), [1]),
        ((95, None, 80), [1]),
    ):
        tables = zip(rows, map(sent, ends), strict=True)
        run = relation_join(
            [*tables],
            sent(None).slice(0, 0),
            on="a",
            time="t",
            valid=("from", "to"),
            restart_every=1,
        )
        assert run.results["id"].to_pylist() == ids
        assert run.results.column_names == ["id", "a", "t", "value"]


@pytest.mark.parametrize("seed", range(10))
def test_a_table(seed: int) -> None:
    """Its rows each count, as in SQL, and no row is late."""
    rng, case = np.random.default_rng(seed), world(seed)
    facts = []
    for a, b in rng.integers(0, 4, (8, 2)).tolist():
        begin, end = sorted(rng.integers(95, 150, 2).tolist())
        facts += [Fact(a, b, begin, end), Fact(a, b, begin, np.inf)]
    relation = pa.table(
        {
            "a": pa.array([f.a for f in facts], pa.int64()),
            "value": pa.array([told(f.b) for f in facts], pa.string()),
            "from": times([f.begin for f in facts]),
            "to": times([f.end for f in facts]),
        }
    )
    rows = [*reversed(case.left)]
    run = relation_join(
        [(rows_of(each, pa.int64()),) for each in rows],
        relation,
        on="a",
        time="t",
        valid=("from", "to"),
        restart_every=seed % 3,
        options=Options(shards=1 + seed % 2),
    )
    assert found(run) == by_definition([*chain(*rows)], facts)


def test_wrong_arguments() -> None:
    kind = pa.int64()
    rows, relation = rows_of([], kind), relation_of([], kind)
    right: dict[str, Any] = {"on": {"a": "key"}, "time": "t"}
    for wrong, error, match in (
        ({"on": {"x": "key"}}, ColumnError, "no column 'x'"),
        ({"on": {"a": "x"}}, ColumnError, "no column 'x'"),
        ({"on": {"a": "value"}}, ColumnTypeError, "'value' of the relation"),
        ({"on": ()}, ParameterError, "no key columns"),
        ({"time": "id"}, ColumnTypeError, "event time 'id'"),
        ({"valid": ("at", "key")}, ColumnTypeError, "'key' of the relation"),
        ({"valid": ("at", "at"), "change": ("op", "at")}, ParameterError, "both"),
    ):
        with pytest.raises(error, match=match):
            relation_join([(rows,)], relation, **(right | wrong))
    with pytest.raises(ParameterError, match="has 2 tables"):
        relation_join([(rows,), (rows, relation)], relation, **right)
    with pytest.raises(ParameterError, match="other columns"):
        relation_join([(rows, rows)], relation, **right)
    clash = relation.rename_columns(["key", "id", "op", "at"])
    with pytest.raises(ColumnError, match=r"(?s)several columns 'id'.*relation_id"):
        relation_join([(rows,)], clash, **right)
    nested = relation.append_column("x", pa.array([], pa.list_(pa.int8())))
    with pytest.raises(ColumnTypeError, match="cannot be told apart"):
        relation_join([(rows,)], nested, **right)
