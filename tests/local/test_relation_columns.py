"""Columns of the relation in the results of a join through it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from shedjoin import Budget, Options, Relation, Within, local
from shedjoin.errors import ColumnError, ParameterError
from shedjoin.operators.frame import results
from shedjoin.operators.frame.combine import Met, joined_columns
from shedjoin.operators.star import matches
from shedjoin.spec.streams import JoinSpec

SECOND = 1_000_000
BEFORE, AFTER = 8, 5
TEXTS = ("new", "old", None)


class Change(NamedTuple):
    """One row of the relation, or of its changes."""

    a: int | None
    b: int | None
    bid: float | None
    text: str | None
    at: int
    what: str


def times(seconds: list[int]) -> pa.Array:
    """Times after the epoch: rows up to the first watermark, which is 0, are late."""
    return pa.array([(second + 1) * SECOND for second in seconds], pa.timestamp("us"))


def rows(rng: random.Random, key: str, count: int) -> pa.Table:
    seconds = sorted(rng.choices(range(60), k=count))
    keys = [rng.choice([*range(5), None]) for _ in seconds]
    numbers = list(range(count))
    return pa.table({key: keys, f"{key}_id": numbers, f"{key}_time": times(seconds)})


def changes(rng: random.Random, count: int, *, deletions: bool) -> list[Change]:
    made = []
    for _ in range(count):
        what = "delete" if deletions and rng.random() < 0.3 else "insert"
        key, other = (rng.choice([*range(5), None]) for _ in range(2))
        bid, text = rng.choice([1.5, None]), rng.choice(TEXTS)
        made.append(Change(key, other, bid, text, rng.randrange(60), what))
    return made


def as_table(changes: list[Change]) -> pa.Table:
    told = {
        name: pa.array([getattr(change, name) for change in changes], kind)
        for name, kind in (
            *(("a", pa.int64()), ("b", pa.int64()), ("bid", pa.float64())),
            ("text", pa.string()),
        )
    }
    at = times([change.at for change in changes])
    return pa.table(
        {**told, "at": at, "what": pa.array([c.what for c in changes], pa.string())}
    )


def seconds_of(table: pa.Table, key: str) -> list[tuple[int | None, int, int]]:
    """Key, number and second of each row."""
    at = table.column(f"{key}_time").cast(pa.int64()).to_pylist()
    columns = table.column(key).to_pylist(), table.column(f"{key}_id").to_pylist()
    return [
        (*pair, time // SECOND - 1) for *pair, time in zip(*columns, at, strict=True)
    ]


def versions(changes: list[Change], *, table: bool) -> list[tuple[Change, float]]:
    """Relation rows with their ends; equal ones of a stream of changes are one."""
    if table:
        return [(change, float("inf")) for change in changes]
    found = []
    for change in {each for each in changes if each.what == "insert"}:
        ends = [
            other.at
            for other in changes
            if other.what == "delete"
            and other[:4] == change[:4]
            and other.at > change.at
        ]
        found.append((change, min(ends, default=float("inf"))))
    return found


def expected(
    left: pa.Table, right: pa.Table, changes: list[Change], *, table: bool
) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for a, a_id, a_time in seconds_of(left, "a"):
        for b, b_id, b_time in seconds_of(right, "b"):
            if not a_time - BEFORE <= b_time <= a_time + AFTER or None in (a, b):
                continue
            for change, end in versions(changes, table=table):
                begin = 0 if table else change.at
                both = begin <= min(a_time, b_time) and max(a_time, b_time) < end
                if (change.a, change.b) == (a, b) and both:
                    found[a_id, b_id, change.bid, change.text] += 1
    return found


def joined(
    left: pa.Table,
    right: pa.Table,
    changes: list[Change],
    **given: Any,  # noqa: ANN401
) -> local.Run:
    whole, stream = as_table(changes), not given.pop("table")
    batches: list[tuple[pa.Table, ...]] = []
    for number in range(4):
        some = slice((number * 15 + 1) * SECOND, (number * 15 + 16) * SECOND)
        parts = []
        for table, key in ((left, "a"), (right, "b")):
            at = table.column(f"{key}_time").cast(pa.int64()).to_numpy()
            inside = (at >= some.start) & (at < some.stop)
            parts.append(table.filter(pa.array(inside)))
        empty = whole.slice(0, 0)
        batches.append((*parts, *([empty] if stream else [])))
    relation = Relation(
        whole,
        left="a",
        right="b",
        change=("what", "at") if stream else None,
        columns=["bid", "text"],
    )
    return local.join(
        batches,
        through=relation,
        within=Within(before=f"{BEFORE} seconds", after=f"{AFTER} seconds"),
        time={"left": "a_time", "right": "b_time"},
        **given,
    )


@pytest.mark.parametrize("table", [True, False], ids=["table", "changes"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_nested_loops(seed: int, table: bool) -> None:
    """Rows that differ in a column that results contain are different rows."""
    rng = random.Random(seed)
    left, right = rows(rng, "a", 60), rows(rng, "b", 60)
    told = changes(rng, 40, deletions=not table)
    run = joined(
        *(left, right, told),
        table=table,
        restart_every=seed % 3,
        options=Options(shards=1 + seed % 3),
    )
    found = run.results.select(["a_id", "b_id", "bid", "text"]).to_pylist()
    assert Counter(tuple(row.values()) for row in found) == expected(
        *(left, right, told), table=table
    )
    assert found
    assert run.results.schema.field("bid").type == pa.float64()


@pytest.mark.parametrize("late", [True, False], ids=["relation last", "rows last"])
def test_large_values_are_gathered_in_pieces(
    late: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many results with a large value of the relation are not in memory at once."""
    found, whole = [], joined_columns

    def noted(spec: JoinSpec, met: list[Met]) -> Iterator[pa.RecordBatch]:
        found.append(met[0].at.size)
        yield from whole(spec, met)

    monkeypatch.setattr(matches, "joined_columns", noted)
    monkeypatch.setattr(results, "ROOM_BYTES", 100_000)
    count = 40
    left, right = (
        pa.table({key: [1] * count, f"{key}_time": times(list(range(count)))})
        for key in ("a", "b")
    )
    made = pa.table(
        {"a": [1], "b": [1], "doc": ["x" * 1000], "at": times([0]), "what": ["insert"]}
    )
    none = left.slice(0, 0), right.slice(0, 0), made.slice(0, 0)
    rows_first = [(left, right, none[2]), (*none[:2], made)]
    batches = rows_first if late else [(*none[:2], made), (left, right, none[2])]
    relation = Relation(
        *(none[2],),
        left="a",
        right="b",
        change=("what", "at"),
        delay="1 minute",
        columns="doc",
    )
    run = local.join(
        batches,
        through=relation,
        within="1 minute",
        time={"left": "a_time", "right": "b_time"},
        lateness="1 minute",
    )
    assert run.results.num_rows == sum(found) == count**2
    assert max(found) <= 100


def test_of_a_lookup_join_too() -> None:
    ads = pa.table({"ad": [1], "bid": [5], "note": ["x"]})
    shown = pa.table({"ad": [1], "at": times([1])})
    run = local.lookup_join(
        [(shown,)], Relation(ads, columns="bid"), on="ad", time="at"
    )
    assert run.results.column_names == ["ad", "at", "bid"]


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], type[Exception], str]] = {
    "unknown": ({"columns": "bud"}, {}, ColumnError, "no column 'bud'"),
    "taken": ({"columns": "a_id"}, {}, ColumnError, "several columns 'a_id'"),
    "no names": ({"columns": 5}, {}, ParameterError, "columns=5 names no"),
    "a time": ({"columns": "at"}, {}, ColumnError, "names 'at', which says when"),
    "under a budget": (
        *({"columns": "bid"}, {"budget": Budget(rows=5)}, ParameterError),
        "does not keep which of its rows",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_columns(case: str) -> None:
    asked, given, kind, problem = WRONG[case]
    rng = random.Random(1)
    relation = as_table([Change(1, 1, 1.5, "new", 0, "insert")])
    relation = relation.append_column("a_id", pa.array([1]))
    relation = relation.append_column("until", times([9]))
    with pytest.raises(kind, match=problem):
        local.join(
            [(rows(rng, "a", 3), rows(rng, "b", 3))],
            through=Relation(
                relation, left="a", right="b", valid=("at", "until"), **asked
            ),
            within="5 seconds",
            time={"left": "a_time", "right": "b_time"},
            **given,
        )
