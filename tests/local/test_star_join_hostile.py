"""Joins through a relation whose changes come late, twice, or in another order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest

from shedjoin import Within, local
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.request.relations import through
from shedjoin.spec.streams import JoinSpec
from support.related import star_join

from .test_star_join import ON, SECOND, found, relation, table

HOUR = Within(before="1 hour", after="1 hour")
Rows = list[tuple[int, int, int]]


def times(seconds: list[int | None]) -> pa.Array:
    us = [None if second is None else SECOND * second for second in seconds]
    return pa.array(us, pa.timestamp("us"))


def valid(rows: list[tuple[int, int, int | None, int | None]]) -> pa.Table:
    """Relation rows (a, b, begin, end)."""
    a, b, begin, end = map(list, zip(*rows, strict=True)) if rows else ([],) * 4
    keys = {"a": pa.array(a, pa.int64()), "b": pa.array(b, pa.int64())}
    return pa.table(keys | {"from": times(begin), "to": times(end)})


def joined(
    left: list[Rows],
    right: list[Rows],
    changes: list[Any],
    within: Within = HOUR,
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    """Changes are (what, a, b, second), or (a, b, begin, end)."""
    first = next(chain(*changes), ("insert",))
    by_change = isinstance(first[0], str)
    made = [relation(c, False) if by_change else valid(c) for c in changes]
    when: dict[str, Any] = (
        {"change": ("change", "at")} if by_change else {"valid": ("from", "to")}
    )
    batches = [
        (table(own, "a", False), table(other, "b", False), each)
        for own, other, each in zip(left, right, made, strict=True)
    ]
    return star_join(
        batches,
        made[0].slice(0, 0),
        on=ON,
        within=within,
        time=("t", "t"),
        **when,
        **settings,
    )


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(
    ("within", "delay"),
    [(Within(after="6 seconds"), "1 hour"), (Within(after="1 hour"), "30 seconds")],
)
def test_rows_wait_for_the_delay(within: Within, delay: str, shards: int) -> None:
    """Longer than the window, and also those of a stream that does not wait at all."""
    left: list[Rows] = [[(0, 1, 100)], [(2, 9, 120)], [], []]
    right: list[Rows] = [[(1, 1, 101)], [(3, 9, 120)], [], []]
    changes = [[], [], [], [("insert", 1, 1, 95)]]
    for every in (0, 1):
        run = joined(
            *(left, right, changes, within),
            delay=delay,
            shards=shards,
            restart_every=every,
        )
        assert found(run) == Counter({(0, 1): 1})
        assert run.report.changes_late == 0


def test_who_has_expired_is_not_related_any_more() -> None:
    """Neither from a segment that has gone, nor from one that others keep."""
    reach = Within(before="5 seconds", after="5 seconds")
    for layout in (
        [[(0, 7, 200), (1, 1, 100)], []],
        [[(1, 1, 100)], [(0, 7, 200)]],
        [[(0, 7, 200)], [(1, 1, 100)]],
    ):
        left: list[Rows] = [*layout, [(4, 8, 130)], [], []]
        right: list[Rows] = [[(2, 1, 101), (5, 8, 130)], [(6, 8, 130)], [], [], []]
        changes = [[], [], [], [], [("insert", 1, 1, 90)]]
        runs = [
            joined(left, right, changes, reach, lateness="40 seconds", restart_every=n)
            for n in (0, 1)
        ]
        assert found(runs[0]) == found(runs[1])
        assert runs[0].state_digests == runs[1].state_digests


def test_a_relation_of_which_most_has_ended_is_stored_anew() -> None:
    """Slots change while ends of rows are changed, and what is known goes on."""
    count, last = 3_000, 2_999
    inserts = [("insert", n, n, 90) for n in range(count)]
    early, late = ([("delete", n, n, t) for n in range(last)] for t in (120, 95))
    seconds = [100, 130, 132, 300, 301, 302]
    left: list[Rows] = [[(n, last, t)] for n, t in enumerate(seconds)]
    right: list[Rows] = [[(n, last, t)] for n, t in enumerate(seconds)]
    near = Within(before="5 seconds", after="5 seconds")
    for changes in (
        [inserts, early, [], [], late, [("delete", last, last, 302)]],
        [inserts, [], late, [], [], [("delete", last, last, 302)]],
    ):
        runs = [
            joined(left, right, changes, near, restart_every=every) for every in (0, 1)
        ]
        pairs = {(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)}
        pairs |= {(3, 3), (3, 4), (4, 3), (4, 4)}
        assert found(runs[0]) == found(runs[1]) == Counter(pairs)
        assert runs[0].state_digests == runs[1].state_digests
        assert runs[0].batches[-2].report.relation == 1
        assert runs[0].batches[-1].report.state_bytes < 300_000


def test_rows_of_a_table_each_count() -> None:
    """As in SQL."""
    left, right = [(0, 1, 100), (2, 1, 200)], [(1, 1, 101), (3, 1, 201)]
    rows = valid([(1, 1, 90, 150), (1, 1, 90, 300), (1, 1, 90, 300)])
    run = star_join(
        [(table(left, "a", False), table(right, "b", False))],
        rows,
        on=ON,
        within=Within(after="5 seconds"),
        time=("t", "t"),
        valid=("from", "to"),
    )
    assert found(run) == Counter({(0, 1): 3, (2, 3): 2})


@pytest.mark.parametrize("every", [0, 1])
def test_relation_rows_that_are_sent_again(every: int) -> None:
    left: list[Rows] = [[(0, 1, 100)], [(2, 1, 110)], [(4, 1, 120)]]
    right: list[Rows] = [[(1, 1, 100)], [(3, 1, 110)], [(5, 1, 120)]]
    near, again = Within(after="1 second"), {"restart_every": every}

    def pairs(*ends: int | None) -> set[tuple[int, int]]:
        changes = [[(1, 1, 90, end)] for end in ends]
        run = joined(left, right, changes, near, delay="1 hour", **again)
        assert max(found(run).values()) == 1
        return set(found(run))

    assert pairs(None, None, None) == {(0, 1), (2, 3), (4, 5)}
    assert pairs(None, 115, 115) == {(0, 1), (2, 3)}
    assert pairs(105, 105, None) == {(0, 1), (2, 3), (4, 5)}
    # One that ends before it begins is taken back.
    assert pairs(None, 80, 80) == {(0, 1)}
    # What was joined is not joined again.
    assert pairs(None, 95, None) >= {(0, 1), (4, 5)}


@pytest.mark.parametrize("every", [0, 1])
def test_changes_in_another_order(every: int) -> None:
    left: list[Rows] = [[(0, 1, 100)], [], [(2, 1, 130)]]
    right: list[Rows] = [[(1, 1, 100)], [], [(3, 1, 130)]]
    insert, delete = ("insert", 1, 1, 90), ("delete", 1, 1, 120)
    for changes in (
        [[insert, delete], [], []],
        [[delete], [insert], []],
        [[insert], [delete], [insert]],
        [[insert], [delete], [delete]],
    ):
        run = joined(left, right, changes, delay="1 hour", restart_every=every)
        assert found(run) == Counter({(0, 1): 1}), changes


def test_streams_whose_rows_lie_behind_the_watermark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As those of another join, which waited there."""

    def lagging(*given: Any) -> JoinSpec:  # noqa: ANN401
        spec: JoinSpec = through(*given)
        streams = tuple(replace(s, lag_us=30 * SECOND) for s in spec.streams)
        return replace(spec, streams=streams)

    monkeypatch.setattr("shedjoin.request.spec.through", lagging)
    left: list[Rows] = [[(0, 1, 100), (2, 9, 120)], [], []]
    right: list[Rows] = [[(3, 9, 120)], [], [(1, 1, 104)]]
    changes = [[("insert", 1, 1, 90), ("delete", 1, 1, 110)], [], []]
    run = joined(left, right, changes, Within(after="20 seconds"))
    assert found(run) == Counter({(0, 1): 1})


def test_a_popular_key_takes_little_memory() -> None:
    """4,000 relation rows of one key end while 4,000 residents have it."""
    count = 4_000
    left: list[Rows] = [[(n, 1, 100) for n in range(count)], [(count, 9, 150)], []]
    right: list[Rows] = [[], [(0, 9, 150)], []]
    changes = [
        [("insert", 1, n, 90) for n in range(count)],
        [("delete", 1, n, 140) for n in range(count)],
        [],
    ]
    run = joined(left, right, changes)
    assert run.batches[-1].report.resident[0] == 0


def test_wrong_tables() -> None:
    left, right = table([], "a", False), table([], "b", False)
    rows = relation([], False)
    settings: dict[str, Any] = {"on": ON, "within": HOUR, "time": ("t", "t")}
    with pytest.raises(ParameterError, match="has 3 tables"):
        star_join([(left, right), (left, right, rows)], rows, **settings)
    with pytest.raises(ParameterError, match="other columns"):
        star_join([(left, right, left)], rows, **settings)
    with pytest.raises(ParameterError, match="below 0"):
        star_join([(left, right)], rows, delay="-1 seconds", **settings)
    with pytest.raises(ColumnTypeError, match="'a' of the relation"):
        star_join([(left, right)], rows, valid=("a", "at"), **settings)
