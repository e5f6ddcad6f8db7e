"""Decayed counts of keys against sums over all arrivals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from shedjoin.models.frequency import Frequency

from .plain import best_count
from .rooms import room

HALF_LIFE = 1000
ROOM = 1024
"""Room for more keys than there are: counts are exact."""
LONG = 1000 * HALF_LIFE
"""So long that counts do not grow any more if all goes on as it does."""


class Seen(NamedTuple):
    """An arrival."""

    stream: int
    key: int
    time: int


def fading(streams: int, keys: int = ROOM) -> Frequency:
    return Frequency(room(Frequency.shapes(streams, keys)), HALF_LIFE)


def decayed(
    seen: list[Seen], stream: int, key: int | None, clock: int, life: int
) -> float:
    """Sum over all arrivals of a stream, or of one key of it."""
    return float(
        sum(
            0.5 ** ((clock - one.time) / life)
            for one in seen
            if one.stream == stream and key in {None, one.key}
        )
    )


def count_batch(
    frequency: Frequency, rng: np.random.Generator, start: int, end: int
) -> list[Seen]:
    """Count some arrivals of each stream between two times."""
    batch: list[Seen] = []
    for stream in range(frequency.totals.size):
        key = rng.integers(7, size=rng.integers(5))
        time = rng.integers(start, end + 1, key.size)
        frequency.add(stream, key, time, end)
        pairs = zip(key.tolist(), time.tolist(), strict=True)
        batch += [Seen(stream, *pair) for pair in pairs]
    return batch


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("pace", [30, 3000, 40_000])
def test_counts_are_sums_over_all_arrivals(
    streams: int, pace: int, rng: np.random.Generator
) -> None:
    """At the greatest pace, counts are scaled down again and again."""
    frequency, seen, clock = fading(streams), list[Seen](), 5_000
    for _ in range(30):
        start, clock = clock, clock + int(rng.integers(pace))
        seen += count_batch(frequency, rng, start, clock)
        later = clock + int(rng.integers(3 * HALF_LIFE))
        stream, key = rng.integers(streams, size=20), rng.integers(8, size=20)
        passed = later - 5_000
        slow, best = frequency.of_partners(stream, key, later, passed)
        faded = 0.5 ** max(passed / HALF_LIFE, 1 / 64)
        for row in range(20):
            exact, at_once = 1.0, 1.0
            for other in set(range(streams)) - {int(stream[row])}:
                wanted = other, int(key[row]), later
                counts = (decayed(seen, *wanted, life) for life in (1000, 100))
                steady, lately = counts
                exact *= steady
                at_once *= best_count(steady, lately, faded)
            # Counts are kept in half a word.
            assert slow[row] == pytest.approx(exact, rel=1e-5, abs=1e-30)
            assert best[row] == pytest.approx(at_once, rel=1e-5, abs=1e-30)
        for each in range(streams):
            total = decayed(seen, each, None, later, HALF_LIFE)
            assert frequency.total(each, later) == pytest.approx(total, rel=1e-9)


def test_a_table_that_is_too_small_forgets_rare_keys(rng: np.random.Generator) -> None:
    """Those that come often keep their counts; none counts too much."""
    frequency, seen, clock = fading(2, 16), list[Seen](), 5_000
    for turn in range(40):
        clock += 100
        for stream in range(2):
            key = np.concatenate([np.arange(5), 100 + 10 * turn + np.arange(3)])
            time = rng.integers(clock - 100, clock + 1, key.size)
            frequency.add(stream, key, time, clock)
            pairs = zip(key.tolist(), time.tolist(), strict=True)
            seen += [Seen(stream, *pair) for pair in pairs]
    names = np.array(sorted({one.key for one in seen}))
    for stream in range(2):
        found = frequency.of_stream(stream, names, clock)
        exact = [decayed(seen, stream, one, clock, HALF_LIFE) for one in names.tolist()]
        assert found[:5].tolist() == pytest.approx(exact[:5], rel=1e-5)
        assert (found <= np.array(exact) * (1 + 1e-5)).all()
        assert np.count_nonzero(found) <= 16


def test_a_full_table_moves_into_one_with_more_room() -> None:
    """Keys that have not come for long do not fill it."""
    small, large = fading(2), fading(2, 2 * ROOM)
    for stream, keys in ((0, 500), (1, 600)):
        small.add(stream, np.arange(keys), np.full(keys, 5_000), 5_000)
    assert not small.is_full(5_000)
    more = np.arange(600, 800)
    small.add(1, more, np.full(more.size, 5_100), 5_100)
    assert small.is_full(5_100)
    assert not small.is_full(5_100 + 4 * HALF_LIFE)
    small.move_to(large)
    assert not large.is_full(5_100)
    own, names = np.ones(800, np.int64), np.arange(800)
    before, after = (
        each.of_partners(own, names, 6_000, 1_000) for each in (small, large)
    )
    for one, other in zip(before, after, strict=True):
        assert one.any()
        assert one.tolist() == other.tolist()
    assert large.total(1, 6_000) == small.total(1, 6_000) > 0.0


@pytest.mark.parametrize("lives", [0.1, 0.5, 3.0])
def test_when_a_key_began_to_come(lives: float) -> None:
    """Both are known from counts alone: how often it comes, and for how long."""
    frequency, clock, every = fading(2), 50_000, 2
    time = np.arange(clock - int(lives * HALF_LIFE), clock, every)
    frequency.add(1, np.full(time.size, 7), time, clock)
    key = np.array([7, 8])
    rate, long = frequency.come_since(1, key, clock, 20 * HALF_LIFE)
    assert rate[0] == pytest.approx(HALF_LIFE / every, rel=0.05)
    assert long[0] == pytest.approx(lives, rel=0.05)
    assert rate[1] == 0.0


def test_nothing_counts_nothing() -> None:
    frequency = fading(2)
    nobody = np.zeros(3, np.int64)
    slow, best = frequency.of_partners(nobody, nobody, 1 << 60, 0)
    assert slow.tolist() == best.tolist() == [0.0] * 3
    assert frequency.total(0, 1 << 60) == 0.0


def test_a_burst_is_noticed_at_the_fast_pace() -> None:
    """A key that came evenly and then all at once counts for more than it did."""
    frequency, rows = fading(2), np.zeros(50, np.int64)
    even = np.linspace(10_000, 20_000, 50).astype(np.int64)
    frequency.add(1, rows, even, 20_000)
    slow, best = frequency.of_partners(rows[:1], rows[:1], 20_000, LONG)
    assert best[0] == slow[0]
    frequency.add(1, rows, np.full(50, 20_000), 20_000)
    slow, best = frequency.of_partners(rows[:1], rows[:1], 20_000, LONG)
    assert best[0] > 3 * slow[0]


def test_a_long_silence_is_forgotten_at_both_paces() -> None:
    """After 1100 half-lives nothing is left of what came before."""
    frequency, row = fading(2), np.zeros(1, np.int64)
    frequency.add(1, row, np.array([1000]), 1000)
    frequency.add(1, row, np.array([3000]), 3000)
    clock = 1100 * HALF_LIFE
    frequency.add(1, row, np.array([clock]), clock)
    slow, best = frequency.of_partners(row, row, clock, LONG)
    assert slow[0] == best[0] == 1.0


@pytest.mark.parametrize("passed", [1, 15, 100, 400, 3000])
def test_counts_mean_the_same_from_the_start_on(passed: int) -> None:
    """A key that comes once a microsecond counts H / log 2, however short the time."""
    frequency, row = fading(2), np.zeros(1, np.int64)
    time = np.arange(5_000, 5_000 + max(passed, HALF_LIFE // 64))
    clock = int(time[-1]) + 1
    frequency.add(1, np.zeros(time.size, np.int64), time, clock)
    slow, best = frequency.of_partners(row, row, clock, passed)
    assert best[0] == pytest.approx(HALF_LIFE / np.log(2.0), rel=0.05)
    assert best[0] * frequency.reached(passed) == pytest.approx(slow[0], rel=1e-6)
