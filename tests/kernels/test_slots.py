"""The slot table against a list of rows: who is there, in which chain, what is free."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from shedjoin.kernels.slots import (
    DIRTY_BIT,
    NOBODY,
    Table,
    bucket_of,
    expire_until,
    is_there,
    link_free,
    note_match,
    pending,
    put_scores,
    read_slots,
    relink,
    survey,
    vacate,
    vacate_all,
)

from .tables import KEYS, Row, chains, empty_table, free_slots, moved_in, rows_of

SLOTS = 7
SHAPES = [(2, 0), (2, 1), (3, 0), (3, 1)]


def pool_of(row: Row, pooled: int) -> int:
    return 0 if pooled else row.stream


def check(table: Table, rows: list[Row], pooled: int) -> None:
    """Compare a table with the rows that should be in it, oldest first."""
    streams = table.streams.size
    assert rows_of(table) == rows
    assert int(table.facts[0]["count"]) == len(rows)
    assert table.streams["residents"].tolist() == [
        sum(row.stream == stream for row in rows) for stream in range(streams)
    ]
    assert table.streams["used"].tolist() == [
        sum(row.size for row in rows if pool_of(row, pooled) == pool)
        for pool in range(streams)
    ]
    expected = defaultdict(list)
    for row in reversed(rows):
        expected[bucket_of(np.int64(row.key), row.stream, table)].append(row.slot)
    for bucket, found in enumerate(chains(table)):
        assert found == expected[bucket]
        owner = bucket // table.meta.size
        assert all(row.stream == owner for row in rows if row.slot in found)
    taken = {row.slot for row in rows}
    assert sorted(free_slots(table)) == sorted(set(range(table.meta.size)) - taken)
    for slot in free_slots(table):
        assert int(table.number[slot]) == NOBODY


def filled(
    streams: int, pooled: int, rng: np.random.Generator, count: int = SLOTS
) -> tuple[Table, list[Row]]:
    """A table with so many residents at random."""
    table = empty_table(SLOTS, streams)
    return table, [newcomer(table, streams, pooled, rng) for _ in range(count)]


def newcomer(table: Table, streams: int, pooled: int, rng: np.random.Generator) -> Row:
    stream = int(rng.integers(streams))
    return moved_in(
        table,
        stream,
        KEYS[rng.integers(len(KEYS))],
        int(rng.integers(-5, 20)),
        size=int(rng.integers(1, 9)),
        pool=0 if pooled else stream,
    )


@pytest.mark.parametrize(("streams", "pooled"), SHAPES)
def test_rows_come_and_go(streams: int, pooled: int, rng: np.random.Generator) -> None:
    table = empty_table(SLOTS, streams)
    rows: list[Row] = []
    for _ in range(150):
        table.meta[:] &= ~DIRTY_BIT
        if rows and (len(rows) == SLOTS or rng.random() < 0.4):
            gone = rows.pop(int(rng.integers(len(rows))))
            vacate(gone.slot, pool_of(gone, pooled), table)
            changed = gone.slot
            assert free_slots(table)[0] == gone.slot
            assert not is_there(gone.slot, gone.number, table)
        else:
            rows.append(newcomer(table, streams, pooled, rng))
            changed = rows[-1].slot
        assert np.flatnonzero(table.meta & DIRTY_BIT).tolist() == [changed]
        assert all(is_there(row.slot, row.number, table) for row in rows)
        check(table, rows, pooled)


@pytest.mark.parametrize(("streams", "pooled"), SHAPES)
def test_several_leave_at_once(
    streams: int, pooled: int, rng: np.random.Generator
) -> None:
    for _ in range(10):
        table, rows = filled(streams, pooled, rng)
        gone = rng.permutation(SLOTS)[: rng.integers(SLOTS + 1)]
        vacate_all(gone, pooled, table)
        check(table, [row for row in rows if row.slot not in gone], pooled)


@pytest.mark.parametrize(("streams", "pooled"), SHAPES)
def test_rows_up_to_a_time_expire(
    streams: int, pooled: int, rng: np.random.Generator
) -> None:
    for _ in range(10):
        table, rows = filled(streams, pooled, rng, count=int(rng.integers(SLOTS + 1)))
        horizon = tuple(int(time) for time in rng.integers(-5, 20, streams))
        count = np.zeros(streams, np.int64)
        expire_until(horizon, pooled, table, count)
        left = [row for row in rows if row.time > horizon[row.stream]]
        assert count.tolist() == [
            sum(row.stream == each and row.time <= horizon[each] for row in rows)
            for each in range(streams)
        ]
        check(table, left, pooled)


@pytest.mark.parametrize("streams", [2, 3])
def test_chains_and_free_list_can_be_built_anew(
    streams: int, rng: np.random.Generator
) -> None:
    for _ in range(10):
        table, rows = filled(streams, 1, rng)
        gone = rng.permutation(SLOTS)[: rng.integers(SLOTS + 1)]
        vacate_all(gone, 1, table)
        rows = [row for row in rows if row.slot not in gone]
        table.heads[:] = 3
        for name in ("next", "previous"):
            table.residents[name] = 3
        relink(np.array([row.slot for row in rows], np.int64), table)
        check(table, rows, 1)
        assert free_slots(table) == sorted(gone)


def test_free_slots_are_linked_in_ascending_order() -> None:
    table, rows = filled(2, 1, np.random.default_rng(1))
    vacate_all(np.array([4, 1, 6]), 1, table)
    assert free_slots(table) == [6, 1, 4]
    link_free(table)
    assert free_slots(table) == [1, 4, 6]
    check(table, [row for row in rows if row.slot not in {1, 4, 6}], 1)


@pytest.mark.parametrize("streams", [2, 3])
def test_the_last_arrivals_are_found(streams: int, rng: np.random.Generator) -> None:
    table, rows = filled(streams, 1, rng)
    vacate(rows[5].slot, 0, table)
    slots = np.full(5, NOBODY)
    pending(2, table, slots)
    there = [NOBODY if row is rows[5] else row.slot for row in rows[2:]]
    assert slots.tolist() == there


@pytest.mark.parametrize("streams", [2, 3])
def test_a_survey_lists_all_residents(streams: int, rng: np.random.Generator) -> None:
    table, rows = filled(streams, 1, rng)
    gone = rng.permutation(SLOTS)[:3]
    vacate_all(gone, 1, table)
    table.score[:] = rng.random(SLOTS)
    before, score = (3, 9, 15)[:streams], np.zeros(SLOTS + 1)
    slot, number, early = (np.full(SLOTS + 1, -99) for _ in range(3))
    count, few = survey(before, table, slot, number, score, early)
    there = {row.slot: row for row in rows if row.slot not in gone}
    found = zip(slot[:count].tolist(), number[:count].tolist(), strict=True)
    assert sorted(found) == sorted((row.slot, row.number) for row in there.values())
    assert score[:count].tolist() == table.score[slot[:count]].tolist()
    assert {int(slot[place]) for place in early[:few]} == {
        row.slot for row in there.values() if row.time < before[row.stream]
    }


@pytest.mark.parametrize("streams", [2, 3])
def test_residents_are_read_and_scored(streams: int, rng: np.random.Generator) -> None:
    table, rows = filled(streams, 1, rng)
    some = [rows[at] for at in rng.permutation(SLOTS)[:4]]
    slots = np.array([row.slot for row in some])
    stream, key, time, number = found = [np.zeros(4, np.int64) for _ in range(4)]
    read_slots(slots, table, stream, key, time, number)
    assert [tuple(map(int, row)) for row in zip(*found, strict=True)] == [
        (row.stream, row.key, row.time, row.number) for row in some
    ]
    table.meta[:] &= ~DIRTY_BIT
    put_scores(slots, np.array([4.0, 3.0, 2.0, 1.0]), table)
    assert table.score[slots].tolist() == [4.0, 3.0, 2.0, 1.0]
    assert np.flatnonzero(table.meta & DIRTY_BIT).tolist() == sorted(slots)
    assert rows_of(table) == rows


@pytest.mark.parametrize("decay", [0.0, 0.25])
def test_matches_fade(decay: float) -> None:
    table = empty_table(2, 2)
    row = moved_in(table, 0, 5, 100)
    details = table.details[row.slot]
    details["last_match"] = row.time
    table.meta[row.slot] &= ~DIRTY_BIT
    times = [101, 101, 104, 110]
    for time in times:
        note_match(row.slot, time, decay, table)
    expected = sum(math.exp(-decay * (110 - time)) for time in times)
    assert float(details["matches"]) == pytest.approx(expected)
    assert int(table.meta[row.slot]) & DIRTY_BIT
    note_match(row.slot, 103, decay, table)
    assert float(details["matches"]) == pytest.approx(expected + 1.0)
    assert int(details["last_match"]) == 110
