"""Decayed counts of keys against sums over all arrivals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from shedjoin.models.frequency import Frequency

from .plain import best_count
from .rooms import room

HALF_LIFE = 1000
WIDE = 4096
LONG = 1000 * HALF_LIFE
"""So long that counts do not grow any more if all goes on as it does."""


class Seen(NamedTuple):
    """An arrival."""

    stream: int
    key: int
    time: int


def fading(streams: int, width: int) -> Frequency:
    return Frequency(room(Frequency.shapes(streams, width)), HALF_LIFE)


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
    for stream in range(len(frequency.counts)):
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
    frequency, seen, clock = fading(streams, WIDE), list[Seen](), 5_000
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
                usual = decayed(seen, other, None, later, HALF_LIFE) / WIDE
                at_once *= best_count(steady, lately, faded, usual)
            assert slow[row] == pytest.approx(exact, rel=1e-9, abs=1e-200)
            assert best[row] == pytest.approx(at_once, rel=1e-9, abs=1e-200)
        for each in range(streams):
            total = decayed(seen, each, None, later, HALF_LIFE)
            assert frequency.total(each, later) == pytest.approx(total, rel=1e-9)


def test_a_narrow_sketch_never_counts_too_little(rng: np.random.Generator) -> None:
    frequency, seen, clock = fading(2, 2), list[Seen](), 5_000
    for _ in range(40):
        start, clock = clock, clock + int(rng.integers(400))
        seen += count_batch(frequency, rng, start, clock)
    key = np.arange(7)
    for stream in range(2):
        slow, _ = frequency.of_partners(np.full(7, stream), key, clock, LONG)
        exact = [decayed(seen, 1 - stream, one, clock, HALF_LIFE) for one in range(7)]
        assert (slow >= np.array(exact) * (1 - 1e-9)).all()
        assert slow.max() > max(exact) * 1.01  # keys share cells


def test_nothing_counts_nothing() -> None:
    frequency = fading(2, 4)
    nobody = np.zeros(3, np.int64)
    slow, best = frequency.of_partners(nobody, nobody, 1 << 60, 0)
    assert slow.tolist() == best.tolist() == [0.0] * 3
    assert frequency.total(0, 1 << 60) == 0.0


def test_a_burst_is_noticed_at_the_fast_pace() -> None:
    """A key that came evenly and then all at once counts for more than it did."""
    frequency, rows = fading(2, WIDE), np.zeros(50, np.int64)
    even = np.linspace(10_000, 20_000, 50).astype(np.int64)
    frequency.add(1, rows, even, 20_000)
    slow, best = frequency.of_partners(rows[:1], rows[:1], 20_000, LONG)
    assert best[0] == slow[0]
    frequency.add(1, rows, np.full(50, 20_000), 20_000)
    slow, best = frequency.of_partners(rows[:1], rows[:1], 20_000, LONG)
    assert best[0] > 3 * slow[0]


def test_a_long_silence_is_forgotten_at_both_paces() -> None:
    """After 1100 half-lives nothing is left of what came before."""
    frequency, row = fading(2, WIDE), np.zeros(1, np.int64)
    frequency.add(1, row, np.array([1000]), 1000)
    frequency.add(1, row, np.array([3000]), 3000)
    clock = 1100 * HALF_LIFE
    frequency.add(1, row, np.array([clock]), clock)
    slow, best = frequency.of_partners(row, row, clock, LONG)
    assert slow[0] == best[0] == 1.0


@pytest.mark.parametrize("passed", [1, 15, 100, 400, 3000])
def test_counts_mean_the_same_from_the_start_on(passed: int) -> None:
    """A key that comes once a microsecond counts H / log 2, however short the time."""
    frequency, row = fading(2, WIDE), np.zeros(1, np.int64)
    time = np.arange(5_000, 5_000 + max(passed, HALF_LIFE // 64))
    clock = int(time[-1]) + 1
    frequency.add(1, np.zeros(time.size, np.int64), time, clock)
    slow, best = frequency.of_partners(row, row, clock, passed)
    assert best[0] == pytest.approx(HALF_LIFE / np.log(2.0), rel=0.05)
    assert best[0] * frequency.reached(passed) == pytest.approx(slow[0])
