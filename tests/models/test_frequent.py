"""Counts of frequent keys against a join of all rows, and which keys are frequent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.kernels.frequent import Counted
from shedjoin.kernels.matching import MIN, SUM
from shedjoin.models.frequency import Frequency
from shedjoin.models.frequent import MOST, Frequent, Rows
from shedjoin.models.monitored import Ghosts, Slice
from shedjoin.models.naming import Came, name_frequent
from shedjoin.types import IntArray

from .rooms import room

KEEP = (1600, 800, 1200)
WIDTH = 100
"""Rows of the same sixteenth of the longest window are not told apart."""
NOTHING = Rows(np.zeros(0, np.int64), np.zeros(0), math.inf)


def empty(streams: int, *keys: int) -> Frequent:
    """Frequent keys of which no row has come yet."""
    frequent = Frequent(room(Frequent.shapes(streams)), KEEP[:streams])
    for key in keys:
        frequent.add(key, [NOTHING] * streams)
    return frequent


def some_rows(
    frequent: Frequent, streams: int, keys: int, rng: np.random.Generator
) -> tuple[Counted, IntArray]:
    """Arrivals of four windows, some of them late, and their keys."""
    time = np.sort(rng.integers(50_000, 56_400, 600))
    time[rng.random(600) < 0.1] -= 300
    stream, key = rng.integers(streams, size=600), rng.integers(keys, size=600)
    nothing = np.full(600, math.inf)
    return Counted(stream, time, nothing, frequent.numbers(key)), key


def part_of(rows: Counted, at: slice) -> Counted:
    """Some of the arrivals."""
    return Counted(rows.stream[at], rows.time[at], rows.importance[at], rows.number[at])


def bounds(rows: Counted, key: IntArray, row: int, streams: int) -> list[list[int]]:
    """Results of a row with those before it: at least, exactly, at most.

    All rows of the buckets at both ends of the window count, or none of them.
    """
    own, time = int(rows.stream[row]), int(rows.time[row])
    found = []
    for other in set(range(streams)) - {own}:
        mine = (rows.stream[:row] == other) & (key[:row] == key[row])
        there = rows.time[:row][mine]
        low, high = time - KEEP[other], time + KEEP[own]
        bucket, first, last = there // WIDTH, low // WIDTH, high // WIDTH
        inside = (there >= low) & (there <= high)
        least, most = (bucket > first) & (bucket < last), bucket >= first
        parts = least, inside, most & (bucket <= last)
        found.append([int(np.count_nonzero(part)) for part in parts])
    return found


@pytest.mark.parametrize("streams", [2, 3])
def test_results_of_frequent_keys(streams: int, rng: np.random.Generator) -> None:
    """Each to a bucket of time at both ends of the window, together to two percent."""
    frequent, exact = empty(streams, 1, 0), 0
    rows, key = some_rows(frequent, streams, 3, rng)
    parts = [part_of(rows, at) for at in (slice(200), slice(200, 600))]
    found = np.concatenate([frequent.count(part, 60_000, None)[0] for part in parts])
    for row in range(600):
        least, here, most = map(
            math.prod, zip(*bounds(rows, key, row, streams), strict=True)
        )
        if key[row] == 2:
            assert found[row] == 0.0  # it is not frequent
        else:
            assert least - 1e-9 <= found[row] <= most + 1e-9
            exact += here
    assert found.sum() == pytest.approx(exact, rel=0.02)


def test_other_keys_count_on_when_some_are_dropped() -> None:
    """As if those had never been counted; a key that comes back begins anew."""
    frequent, alone = empty(2, 0, 1, 2), empty(2, 1)
    for each in (frequent, alone):
        rows, _ = some_rows(each, 2, 3, np.random.default_rng(3))
        each.count(rows, 60_000, None)
    frequent.drop(np.array([0, 2]))
    assert frequent.key.tolist() == [1]
    assert frequent.numbers(np.array([0, 1, 2])).tolist() == [-1, 0, -1]
    frequent.add(2, [NOTHING] * 2)
    time, stream = np.full(2, 56_400), np.zeros(2, np.int64)
    number = frequent.numbers(np.array([1, 2]))
    more = Counted(stream, time, np.full(2, math.inf), number)
    found = frequent.count(more, 60_000, None)[0]
    lone = alone.count(more._replace(number=number[[0, 0]]), 60_000, None)[0]
    assert found.tolist() == [lone[0], 0.0]
    assert lone[0] > 10.0


def test_keys_without_results_are_forgotten() -> None:
    """A row on one stream alone has none, nor have rows of two windows ago."""
    frequent = empty(2, 5, 6, 7)
    number, stream = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 1])
    time, nothing = np.array([50_000, 50_000, 54_000, 54_000, 54_000]), np.full(5, 1.0)
    frequent.count(Counted(stream, time, nothing, number), 60_000, None)
    frequent.forget_idle()
    assert frequent.key.tolist() == [7]


def in_turn(start: int, stream: list[int], importance: list[float]) -> Counted:
    """Arrivals of the first frequent key, four in a bucket of time."""
    count = len(stream)
    time = start + np.arange(count) * (WIDTH // 4)
    number = np.zeros(count, np.int64)
    return Counted(np.array(stream), time, np.array(importance), number)


def test_results_are_worth_what_one_stream_says() -> None:
    rows = in_turn(50_000, [1, 1, 0, 1], [2.0, 5.0, math.inf, 4.0])
    matches, worth = empty(2, 0).count(rows, 60_000, MIN)
    assert matches.tolist() == [0.0, 0.0, 2.0, 1.0]
    assert worth.tolist() == [0.0, 0.0, 7.0, 4.0]


def test_results_are_worth_what_the_last_rows_were() -> None:
    """All rows of the window have the new importance, two of a stream in a bucket."""
    frequent = empty(2, 0)
    for start, importance in ((50_000, 1.0), (51_000, 9.0)):
        rows = in_turn(start, [0, 1] * 20, [importance] * 40)
        frequent.count(rows, 60_000, SUM)
    matches, worth = frequent.count(in_turn(52_000, [0], [9.0]), 60_000, SUM)
    assert matches[0] == 16.0
    assert worth[0] == pytest.approx(18.0 * matches[0])


class Town:
    """Key 7 has most of the results, among keys that come once; both are counted."""

    def __init__(self, halvings: int) -> None:
        rng = np.random.default_rng(11)
        self.frequent, self.clock = empty(2), 53_200
        self.frequency = Frequency(room(Frequency.shapes(2, 4096)), KEEP[0])
        self.slice = Slice(room(Slice.shapes(2, 2048)), KEEP[:2])
        self.slice._halvings[0] = halvings
        self.time = np.sort(rng.integers(50_000, self.clock, 1200))
        self.stream = rng.integers(2, size=1200)
        self.key = np.where(rng.random(1200) < 0.2, 7, np.arange(100, 1300))
        importance = np.full(1200, math.inf)
        nobody = Counted(
            self.stream, self.time, importance, np.full(1200, -1, np.int64)
        )
        self.frequent.count(nobody, self.clock, None)
        for own in range(2):
            mine = self.stream == own
            key, time = self.key[mine], self.time[mine]
            self.frequency.add(own, key, time, self.clock)
            seen = self.slice.monitored(key)
            part = key[seen], time[seen], importance[mine][seen]
            self.slice.add(own, Ghosts(*part, np.zeros(part[0].size, np.int8)))

    def name(self) -> None:
        """Find frequent keys among all arrivals."""
        importance = np.full(self.key.size, math.inf)
        came = Came(self.stream, self.key, importance, 3200, 0, self.clock)
        name_frequent(came, self.frequency, self.slice, self.frequent)


@pytest.mark.parametrize("halvings", [0, 31])
def test_the_rows_of_a_key_count_when_it_becomes_frequent(halvings: int) -> None:
    """Those that were monitored are known; of others, how many came, and since when."""
    town = Town(halvings)
    town.name()
    assert town.slice.monitored(np.array([7]))[0] == (not halvings)
    assert town.frequent.key.tolist() == [7]
    rows = Counted(
        np.array([0, 1]), np.full(2, town.clock), np.full(2, math.inf), np.zeros(2, int)
    )
    found = town.frequent.count(rows, town.clock, None)[0]
    for own in range(2):
        there = (town.key == 7) & (town.stream == 1 - own)
        exact = np.count_nonzero(town.time[there] >= town.clock - KEEP[1 - own])
        partners = exact + own  # one of them is the first of these two rows
        assert found[own] == pytest.approx(partners, rel=0.1 if not halvings else 0.25)


@pytest.mark.parametrize(("rows", "comes"), [(1, True), (200, False)])
def test_a_key_takes_the_place_of_one_with_few_results(rows: int, comes: bool) -> None:
    """If there are as many frequent keys as there can be, but not of one with more."""
    town = Town(0)
    known = Rows(np.full(rows, town.clock), np.ones(rows), math.inf)
    for key in range(2000, 2000 + MOST):
        town.frequent.add(key, [known, known])
    town.name()
    assert town.frequent.size == MOST
    assert (7 in town.frequent.key) == comes
