"""The index against a plain list of residents, on rings of a few slots."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from shedjoin.kernels.index import (
    BLOCK,
    NEVER,
    NOWHERE,
    STRIDE,
    Index,
    Pairs,
    bury,
    count_after,
    fixed,
    link,
    probe,
    read_run,
)
from shedjoin.types import IntArray

keys = st.sampled_from([0, 1, 2, 3, -1, 2**63 - 1, -(2**63)])
times = st.integers(-6, 20)
rows = st.lists(st.tuples(keys, times), max_size=12)


class Reach(NamedTuple):
    """Which residents an arrival sees: ``time - back <= resident <= time + ahead``."""

    back: int
    ahead: int


reaches = st.builds(Reach, st.integers(-3, 6), st.integers(-3, 6))

SEED = -7
Row = tuple[int, int]


class Resident(NamedTuple):
    """What the oracle knows of a slot."""

    key: int
    time: int
    gone: bool = False


def columns(values: list[Row]) -> tuple[IntArray, IntArray]:
    """Return read-only keys and times, as the library passes them."""
    key = np.array([key for key, _ in values], np.int64)
    time = np.array([time for _, time in values], np.int64)
    key.flags.writeable = False
    time.flags.writeable = False
    return key, time


def empty_index(capacity: int) -> Index:
    heads = np.full(capacity, NOWHERE, np.int64)
    return Index(heads, np.zeros(STRIDE * capacity, np.int64), SEED)


def all_matches(
    arrivals: list[Row], reach: Reach, index: Index, base: int, size: int
) -> list[tuple[int, int]]:
    """Probe call after call, with more room when one arrival needs it."""
    key, time = columns(arrivals)
    limits = fixed(time - reach.back), fixed(time + reach.ahead)
    pairs, start = Pairs.room(size), 0
    out: list[tuple[int, int]] = []
    while start < len(arrivals):
        found, after, _ = probe(key, *limits, start, index, base, pairs)
        assert start <= after <= len(arrivals)
        assert found <= pairs.slot.size - BLOCK
        got = pairs.arrival[:found].tolist()
        assert all(start <= arrival < after for arrival in got)
        out += zip(got, pairs.slot[:found].tolist(), strict=True)
        if not found and after < len(arrivals):
            pairs = pairs.doubled()
        start = after
    return sorted(out)


class IndexMachine(RuleBasedStateMachine):
    """One side: rows come, leave in bulk, are buried; the ring wraps and grows."""

    def __init__(self) -> None:
        super().__init__()
        self.index = empty_index(4)
        self.base = 0
        self.slots: list[Resident] = []

    def grow(self) -> None:
        key, time = read_run(self.index.entries, self.base, len(self.slots) - self.base)
        key.flags.writeable = False
        time.flags.writeable = False
        self.index = empty_index(2 * self.index.heads.size)
        link(key, time, self.base, self.index)

    @rule(new=rows)
    def insert(self, new: list[Row]) -> None:
        while len(self.slots) + len(new) - self.base > self.index.heads.size:
            self.grow()
        link(*columns(new), len(self.slots), self.index)
        self.slots += [Resident(*row) for row in new]

    @rule(share=st.floats(0, 1))
    def leave(self, share: float) -> None:
        self.base += round(share * (len(self.slots) - self.base))

    @rule(data=st.data())
    def bury(self, data: st.DataObject) -> None:
        first, end = self.run(data)
        bury(first, end - first, self.index.entries)
        for slot in range(first, end):
            self.slots[slot] = self.slots[slot]._replace(gone=True)

    @rule(
        some=rows,
        copies=st.sampled_from([1, 1, 1, 10]),
        reach=reaches,
        size=st.integers(1, 99),
    )
    def match(self, some: list[Row], copies: int, reach: Reach, size: int) -> None:
        arrivals = copies * some
        before = [array.copy() for array in self.index[:2]]
        expected = [
            (number, slot)
            for number, (key, time) in enumerate(arrivals)
            for slot in range(self.base, len(self.slots))
            if not self.slots[slot].gone
            and self.slots[slot].key == key
            and time - reach.back <= self.slots[slot].time <= time + reach.ahead
        ]
        found = all_matches(arrivals, reach, self.index, self.base, size)
        assert found == expected
        assert all(map(np.array_equal, before, self.index[:2]))

    @rule(data=st.data(), horizon=times)
    def count(self, data: st.DataObject, horizon: int) -> None:
        first, end = self.run(data)
        run = self.slots[first:end]
        expected = sum(not row.gone and row.time > horizon for row in run)
        found = count_after(self.index.entries, first, end - first, horizon)
        assert found == expected

    @invariant()
    def slots_hold_their_rows(self) -> None:
        run = self.slots[self.base :]
        key, time = read_run(self.index.entries, self.base, len(run))
        assert key.tolist() == [row.key for row in run]
        expected = [int(NEVER) if row.gone else row.time for row in run]
        assert time.tolist() == expected

    def run(self, data: st.DataObject) -> tuple[int, int]:
        first = data.draw(st.integers(self.base, len(self.slots)))
        return first, data.draw(st.integers(first, len(self.slots)))


TestIndex = IndexMachine.TestCase
TestIndex.settings = settings(stateful_step_count=20)


@given(st.integers(0, 2**40), rows)
def test_slots_may_start_anywhere(first: int, residents: list[Row]) -> None:
    index = empty_index(16)
    link(*columns(residents), first, index)
    found = all_matches([(0, 5)], Reach(5, 5), index, first, 16)
    expected = [n for n, (k, t) in enumerate(residents) if k == 0 and 0 <= t <= 10]
    assert sorted(slot - first for _, slot in found) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 100, 1000])
def test_matches_are_found_once_whatever_the_room(size: int) -> None:
    index = empty_index(8)
    link(*columns([(7, 0), (7, 1), (7, 0), (8, 0)]), 0, index)
    arrivals = [(7, 0), (8, 0), (9, 0)] * 60
    expected = [(n, s) for n in range(0, 180, 3) for s in (0, 2)]
    expected += [(n, 3) for n in range(1, 180, 3)]
    assert all_matches(arrivals, Reach(0, 0), index, 0, size) == sorted(expected)


def test_an_arrival_with_more_matches_than_room_is_not_begun() -> None:
    index = empty_index(4)
    link(*columns([(7, 0)] * 4), 0, index)
    key, time = columns([(1, 0), (7, 0)])
    found, after, _ = probe(key, time, time, 0, index, 0, Pairs.room(3))
    assert found == 0
    assert after <= 1
    assert probe(key, time, time, after, index, 0, Pairs.room(64)) == (4, 2, 4)
