"""The join through a relation against its definition, row by row."""

from __future__ import annotations

from collections import Counter
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Within, local
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from support.related import star_join

SECOND = 1_000_000
ON = (("a", "a"), ("b", "b"))
AFTER_S, BEFORE_S = 6, 4
WITHIN = Within(before=f"{BEFORE_S} seconds", after=f"{AFTER_S} seconds")


class Fact(NamedTuple):
    """A relation row: its keys, and when it is active, in seconds."""

    a: int
    b: int
    begin: float
    end: float


class World(NamedTuple):
    """Rows (id, key, second) of both streams, and changes, by micro-batch."""

    left: list[list[tuple[int, int, int]]]
    right: list[list[tuple[int, int, int]]]
    changes: list[list[tuple[str, int, int, int]]]


def world(seed: int, batches: int = 8, keys: int = 4, late: int = 0) -> World:
    """Rows come out of order by up to ``late`` seconds; changes come in time.

    A deletion comes before the rows that it concerns; an insertion may come after.
    """
    rng = np.random.default_rng(seed)
    streams: list[list[list[tuple[int, int, int]]]] = [[], []]
    changes: list[list[tuple[str, int, int, int]]] = []
    open_facts: set[tuple[int, int]] = set()
    ended: dict[tuple[int, int], int] = {}
    number = 0
    for batch in range(batches):
        start = 100 + 5 * batch
        for stream in streams:
            stream.append([])
            for _ in range(int(rng.integers(0, 7))):
                at = start + int(rng.integers(-late, 5))
                stream[-1].append((number, int(rng.integers(keys)), at))
                number += 1
        changes.append([])
        for _ in range(int(rng.integers(0, 5))):
            fact = int(rng.integers(keys)), int(rng.integers(keys))
            if fact in open_facts and rng.random() < 0.6:
                # Before all rows of this micro-batch that it could concern.
                changes[-1].append(("delete", *fact, start + 5))
                open_facts.discard(fact)
                ended[fact] = start + 5
            elif fact not in open_facts:
                begin = max(start - int(rng.integers(0, 4)), ended.get(fact, 0))
                changes[-1].append(("insert", *fact, begin))
                open_facts.add(fact)
    return World(streams[0], streams[1], changes)


def facts_of(changes: list[list[tuple[str, int, int, int]]]) -> list[Fact]:
    """Relation rows as a table with begin and end would have them in the end."""
    facts: list[Fact] = []
    for change, a, b, at in chain(*changes):
        if change == "insert":
            facts.append(Fact(a, b, at, np.inf))
        else:
            facts = [
                f._replace(end=at)
                if (f.a, f.b) == (a, b) and f.begin < at < f.end
                else f
                for f in facts
            ]
    return facts


def expected(world: World, facts: list[Fact]) -> Counter[tuple[int, int]]:
    return Counter(
        (r, s)
        for (r, a, t), (s, b, u), f in product(
            chain(*world.left), chain(*world.right), facts
        )
        if (f.a, f.b) == (a, b)
        and f.begin <= min(t, u)
        and max(t, u) < f.end
        and -BEFORE_S <= u - t <= AFTER_S
    )


def table(rows: list[tuple[int, int, int]], key: str, text: bool) -> pa.Table:
    number, value, at = zip(*rows, strict=True) if rows else ((), (), ())
    kind = pa.string() if text else pa.int64()
    values = [f"key {v}" for v in value] if text else value
    return pa.table(
        {
            f"{key}_id": pa.array(number, pa.int64()),
            key: pa.array(values, kind),
            "t": pa.array([SECOND * each for each in at], pa.timestamp("us")),
        }
    )


def relation(changes: list[tuple[str, int, int, int]], text: bool) -> pa.Table:
    what, a, b, at = zip(*changes, strict=True) if changes else ((), (), (), ())
    kind = pa.string() if text else pa.int64()
    name = (lambda v: f"key {v}") if text else (lambda v: v)
    return pa.table(
        {
            "change": pa.array(what, pa.string()),
            "a": pa.array(map(name, a), kind),
            "b": pa.array(map(name, b), kind),
            "at": pa.array([SECOND * each for each in at], pa.timestamp("us")),
        }
    )


def joined(world: World, text: bool = False, **settings: Any) -> local.Run:  # noqa: ANN401
    batches = [
        (table(left, "a", text), table(right, "b", text), relation(changes, text))
        for left, right, changes in zip(*world, strict=True)
    ]
    settings = {"delay": "10 seconds", "lateness": "10 seconds"} | settings
    return star_join(
        batches,
        relation([], text),
        on=ON,
        within=WITHIN,
        time=("t", "t"),
        change=("change", "at"),
        **settings,
    )


def found(run: local.Run) -> Counter[tuple[int, int]]:
    ids = (run.results[name].to_pylist() for name in ("a_id", "b_id"))
    return Counter(zip(*ids, strict=True))


@pytest.mark.parametrize("first", range(0, 300, 60))
def test_a_changing_relation(first: int) -> None:
    results = 0
    for seed in range(first, first + 60):
        case = world(seed, late=seed % 3)
        want = expected(case, facts_of(case.changes))
        text, shards = bool(seed % 2), 1 + seed % 3
        run = joined(case, text, shards=shards, restart_every=seed % 4)
        assert found(run) == want, seed
        results += want.total()
        changes = sum(map(len, case.changes))
        assert run.report.changes == changes
    assert results > 300


def test_restarts_and_the_order_of_delivery_change_nothing() -> None:
    for seed in range(20):
        case = world(seed, batches=14, late=seed % 3)
        runs = [
            joined(
                case, restart_every=every, blobs=blobs, shuffle_seed=seed, delay=wait
            )
            for wait in ("0 seconds", "10 seconds")
            for every, blobs in ((0, 1), (1, 1), (3, 2))
        ]
        for one, *others in (runs[:3], runs[3:]):
            for other in others:
                assert found(other) == found(one)
            assert others[0].state_digests == one.state_digests
            assert [b.report for b in others[0].batches] == [
                b.report for b in one.batches
            ]


def test_rows_leave_with_their_relation_rows() -> None:
    """Rule (8) of the paper, and rows that nothing relates."""
    left = [[(0, 0, 100), (1, 1, 101), (2, 0, 102)], [(3, 7, 105)], []]
    right = [[], [(4, 7, 105)], []]
    changes = [[("insert", 0, 0, 90)], [("delete", 0, 0, 104)], []]
    changes[1].append(("insert", 7, 7, 105))
    case = World(left, right, changes)
    run = joined(case, delay="0 seconds", lateness="0 seconds")
    # The third micro-batch knows that time has come to second 105.
    assert [batch.report.resident for batch in run.batches] == [(3, 0), (4, 1), (1, 1)]
    assert run.batches[2].report.expired == (3, 0)
    waiting = joined(case, lateness="0 seconds")
    assert waiting.batches[2].report.resident == (4, 1)
    assert found(run) == found(waiting) == Counter({(3, 4): 1})


def test_late_changes_are_counted() -> None:
    """An insertion acts on who is still there; a deletion takes nothing back."""
    left = [[(0, 1, 100)], [(1, 9, 120)], []]
    right = [[(2, 1, 101)], [(3, 9, 120)], []]
    changes: list[list[tuple[str, int, int, int]]] = [[], [], []]
    changes[1] = [("insert", 1, 1, 90)]
    run = joined(World(left, right, changes))
    assert found(run) == Counter({(0, 2): 1})
    assert run.report.changes_late == 0
    # Without a delay nobody waits once the watermark has passed.
    changes[1], changes[2] = [], [("insert", 1, 1, 90)]
    run = joined(World(left, right, changes), delay="0 seconds", lateness="0 seconds")
    assert not found(run)
    assert run.report.changes_late == 1
    changes = [[("insert", 1, 1, 90)], [("delete", 1, 1, 95)], []]
    run = joined(World(left, right, changes))
    assert found(run) == Counter({(0, 2): 1})
    assert run.report.changes_late == 1


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_fixed_relation_with_times(seed: int, text: bool) -> None:
    rng, case = np.random.default_rng(seed), world(seed)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 4, (6, 2))}
    facts = []
    for a, b in pairs:
        begin, end = sorted(rng.integers(95, 150, 2).tolist())
        facts += [Fact(a, b, begin, end), Fact(a, b, end + 3, np.inf)]
    name = (lambda v: f"key {v}") if text else (lambda v: v)
    kind = pa.string() if text else pa.int64()
    ends = [None if f.end == np.inf else SECOND * f.end for f in facts]
    rows = pa.table(
        {
            "a": pa.array([name(f.a) for f in facts], kind),
            "b": pa.array([name(f.b) for f in facts], kind),
            "from": pa.array([SECOND * f.begin for f in facts], pa.timestamp("us")),
            "to": pa.array(ends, pa.timestamp("us")),
        }
    )
    batches = [
        (table(left, "a", text), table(right, "b", text))
        for left, right in zip(case.left, case.right, strict=True)
    ]
    settings: dict[str, Any] = {"on": ON, "within": WITHIN, "time": ("t", "t")}
    settings |= {"valid": ("from", "to"), "lateness": "10 seconds"}
    run = star_join(batches, rows, restart_every=seed % 3, **settings)
    assert found(run) == expected(case, facts)
    # Rows without a relation row are not kept.
    none = star_join(batches, rows.slice(0, 0), **settings)
    assert none.report.matched == sum(none.batches[-1].report.resident) == 0


def test_a_popular_relation_row_is_not_copied() -> None:
    """A row is stored once, however many relation rows it has."""
    left = table([(0, 1, 100)], "a", False)
    right = table([(n, n, 101) for n in range(500)], "b", False)
    changes = relation([("insert", 1, n, 90) for n in range(500)], False)
    empty = relation([], False)
    run = star_join(
        [(left, right.slice(0, 0), changes), (left.slice(0, 0), right, empty)],
        empty,
        on=ON,
        within=WITHIN,
        time=("t", "t"),
        change=("change", "at"),
    )
    assert run.batches[0].report.stored == (1, 0)
    assert run.report.matched == 500


def test_wrong_arguments() -> None:
    left, right = table([], "a", False), table([], "b", False)
    rows = relation([], False)
    right_way: dict[str, Any] = {"on": ON, "within": WITHIN, "time": ("t", "t")}
    for wrong, error, match in (
        ({"on": (("a", ()), ("b", "b"))}, ParameterError, "names no key columns"),
        ({"on": (("a", "a"), ("b", ["b", "a"]))}, ParameterError, "the same number"),
        ({"on": (("a", "x"), ("b", "b"))}, ColumnError, "no column 'x'"),
        ({"on": (("a", "change"), ("b", "b"))}, ColumnTypeError, "of the relation"),
        ({"valid": ("at",)}, ParameterError, "valid="),
        ({"valid": ("at", "at"), "change": ("change", "at")}, ParameterError, "both"),
    ):
        with pytest.raises(error, match=match):
            star_join([(left, right)], rows, **(right_way | wrong))
    changes = relation([("upsert", 1, 1, 5)], False)
    with pytest.raises(ParameterError, match="'upsert'"):
        star_join([(left, right, changes)], rows, change=("change", "at"), **right_way)


def test_the_example_of_the_paper() -> None:
    """SEMANTICS 2b, EXACT: 15 results."""
    left = [(0, 1), (1, 0), (2, 1), (3, 0), (4, 2), (5, 5)]
    right = [(0, 1), (1, 3), (2, 3), (3, 8), (4, 3), (5, 5)]
    facts: list[tuple[Any, ...]] = [
        (0, 3, None, None),
        (1, 5, None, None),
        (0, 8, None, None),
    ]
    facts += [(4, 5, None, None), (1, 3, None, 5), (5, 8, 3, None)]
    a, b, begin, end = zip(*facts, strict=True)

    def times(seconds: Any) -> pa.Array:  # noqa: ANN401
        kind = pa.timestamp("us")
        return pa.array([s if s is None else SECOND * (s + 10) for s in seconds], kind)

    rows = pa.table({"a": a, "b": b, "from": times(begin), "to": times(end)})
    batches = [
        (
            table([(t, v, t + 10) for t, v in left[instant:][:1]], "a", False),
            table([(t, v, t + 10) for t, v in right[instant:][:1]], "b", False),
        )
        for instant in range(6)
    ]
    run = star_join(
        batches,
        rows,
        on=ON,
        within=Within(before="3 seconds", after="3 seconds"),
        time=("t", "t"),
        valid=("from", "to"),
    )
    pairs = [1, 2, 11, 12, 13, 14, 21, 22, 24, 25, 31, 32, 33, 34, 53]
    assert found(run) == Counter(divmod(pair, 10) for pair in pairs)
