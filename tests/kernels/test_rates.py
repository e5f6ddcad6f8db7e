"""Counts of keys and tables of rates, row by row, against sums and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.kernels.key_table import PACES, KeyTable, add_keys
from shedjoin.kernels.rates import (
    FASTER,
    SHORTEST,
    add_spans,
    at_best,
    begun,
    begun_at,
    best_means,
    read_partners,
    read_table,
)


def counted(
    streams: int, keys: list[list[int]], weights: list[list[list[float]]]
) -> KeyTable:
    """Counts of keys by stream and pace, in a table with room for all of them."""
    room = 1024
    table = KeyTable(
        np.zeros(room, np.int32), np.zeros((room, streams, PACES), np.float32)
    )
    for own in range(streams):
        weight = np.array(weights[own], np.float64).reshape(-1)
        add_keys(own, np.array(keys[own], np.int64), weight, table)
    return table


@pytest.mark.parametrize("streams", [2, 3])
def test_counts_on_the_other_streams_multiply(
    streams: int, rng: np.random.Generator
) -> None:
    """A key that is not known on one of them counts nothing."""
    keys = [rng.integers(8, size=40).tolist() for _ in range(streams)]
    weights = [rng.integers(1, 4, (40, 2)).tolist() for _ in range(streams)]
    table = counted(streams, keys, weights)
    stream, key = rng.integers(streams, size=60), rng.integers(9, size=60)
    slow, best = np.zeros(60), np.zeros(60)
    fade = np.array([0.5, 0.25, 0.875])
    read_partners(stream, key, table, fade, slow, best)
    for row in range(60):
        one, other = 1.0, 1.0
        for each in set(range(streams)) - {int(stream[row])}:
            mine = [
                weight
                for seen, weight in zip(keys[each], weights[each], strict=True)
                if seen == key[row]
            ]
            paces = [fade[pace] * sum(w[pace] for w in mine) for pace in range(2)]
            one *= paces[0]
            other *= at_best(paces[0], paces[1], 0.875) if mine else 0.0
        assert slow[row] == pytest.approx(one)
        assert best[row] == pytest.approx(other)


@pytest.mark.parametrize("halvings", [1 / 64, 0.1, 1.0, 60.0])
@pytest.mark.parametrize("steady", [0.0, 1.0, 10.0, 200.0, 1e4])
def test_the_fast_pace_counts_only_beyond_doubt(steady: float, halvings: float) -> None:
    faded = 0.5**halvings
    slow, reached = steady * (1.0 - faded), 1.0 - faded**FASTER
    expected = steady * reached / FASTER
    doubt = 3.0 * math.sqrt((expected + 1.0) / 2.0)
    for fast in (expected - 0.999 * doubt, expected, expected + 0.999 * doubt):
        if 0.0 <= fast <= slow:
            assert at_best(slow, fast, faded) == pytest.approx(steady)
    fallen = expected - 1.001 * doubt
    if fallen >= 0.0:
        known = fallen * FASTER / reached
        assert at_best(slow, fallen, faded) == pytest.approx(known * known / steady)
    risen = expected + 1.001 * doubt
    if risen <= slow:
        certain = FASTER * (risen - math.sqrt(risen))
        assert at_best(slow, risen, faded) >= certain


@pytest.mark.parametrize("halvings", [1 / 64, 0.05, 0.2, 0.6])
def test_a_key_that_has_just_begun_counts_as_what_it_comes_to(halvings: float) -> None:
    """However long ago it began, and however long others have been counted."""
    steady, faded = 1e5, 0.5**halvings
    slow = steady * (1.0 - faded)
    fast = steady * (1.0 - faded**FASTER) / FASTER
    assert begun(fast / slow) == pytest.approx(faded)
    certain = 1.0 - 1.0 / math.sqrt(2.0 * fast)
    assert at_best(slow, fast, 1e-9) == pytest.approx(steady * certain)
    assert at_best(slow, fast, faded) == pytest.approx(steady)


def test_when_keys_began_is_bounded_on_both_sides() -> None:
    """Not before counting began, and not so lately that one arrival would tell."""
    halvings = np.array([0.0, 0.5 * SHORTEST, 0.1, 0.4, 2.0, 9.0])
    left = 0.5**halvings
    share = np.array([sum(one**n for n in range(FASTER)) for one in left]) / FASTER
    found = np.empty(halvings.size)
    begun_at(share, 0.5**2.5, found)
    expected = [SHORTEST, SHORTEST, 0.1, 0.4, 2.0, 2.5]
    assert (-np.log2(found)).tolist() == pytest.approx(expected, rel=1e-6)


def test_a_key_that_ends_falls_ahead_of_its_counts() -> None:
    """Half a half-life of the fast pace after its end, half of it is left."""
    faded = 0.5 ** (0.5 / FASTER)
    slow, fast = 1e4 * faded, 1e3 * math.sqrt(0.5)
    assert at_best(slow, fast, 1e-9) == pytest.approx(1e4 * 0.5 / faded)


def test_tables_are_read_between_two_ages_in_proportion(
    rng: np.random.Generator,
) -> None:
    table = rng.random((3, 4, 8))
    stream, level = rng.integers(3, size=80), rng.integers(4, size=80)
    age, per_us = rng.integers(0, 250, 80), np.array([0.05, 0.1, 0.03])
    found = np.zeros(80)
    read_table(stream, level, age, per_us, table, found)
    for row in range(80):
        line = table[stream[row], level[row]]
        at = float(age[row] * per_us[stream[row]])
        assert found[row] == pytest.approx(np.interp(at, np.arange(8), line))


def test_time_is_added_to_the_ages_between(rng: np.random.Generator) -> None:
    level = rng.integers(3, size=60)
    young = rng.uniform(-3.0, 9.0, 60)
    old = young + rng.uniform(0.0, 5.0, 60)
    young[:10] = np.floor(young[:10])
    old[:20] = np.floor(old[:20])
    found = np.ones((3, 8))
    add_spans(level, young, old, found)
    for each in range(3):
        for bucket in range(8):
            spans = (
                max(0.0, min(old[row], bucket + 1.0) - max(young[row], bucket))
                for row in np.flatnonzero(level == each)
            )
            assert found[each, bucket] == pytest.approx(1.0 + sum(spans))


def test_the_best_mean_rate_from_each_age_on(rng: np.random.Generator) -> None:
    rate = rng.random((5, 9))
    rate[0] = np.arange(9)
    rate[1] = -np.arange(9)
    total = np.concatenate([np.zeros((5, 1)), rate.cumsum(axis=1)], axis=1)
    found = np.zeros((5, 9))
    best_means(total, found)
    for row in range(5):
        for age in range(9):
            means = [rate[row, age:end].mean() for end in range(age + 1, 10)]
            assert found[row, age] == pytest.approx(max(means))
    assert found[1].tolist() == rate[1].tolist()  # what falls is best at once
