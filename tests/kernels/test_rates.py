"""Counts of keys and tables of rates, row by row, against sums and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.kernels.rates import (
    FASTER,
    add_spans,
    at_best,
    best_means,
    read_partners,
    read_table,
)
from shedjoin.kernels.sketch import DEPTH, PACES, add_keys


def sketched(
    streams: int, width: int, keys: list[list[int]], weights: list[list[list[float]]]
) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
    """Counts by stream, cell and pace."""
    counts = np.zeros((streams, DEPTH * width, PACES))
    for own in range(streams):
        weight = np.array(weights[own], np.float64).reshape(-1)
        add_keys(np.array(keys[own], np.int64), weight, counts[own].reshape(-1))
    return counts


@pytest.mark.parametrize("streams", [2, 3])
def test_counts_on_the_other_streams_multiply(
    streams: int, rng: np.random.Generator
) -> None:
    """In a wide sketch few keys do not meet: counts are exact."""
    keys = [rng.integers(8, size=40).tolist() for _ in range(streams)]
    weights = [rng.integers(1, 4, (40, 2)).tolist() for _ in range(streams)]
    counts = sketched(streams, 4096, keys, weights)
    stream, key = rng.integers(streams, size=60), rng.integers(9, size=60)
    slow, best = np.zeros(60), np.zeros(60)
    fade = np.array([0.5, 0.25])
    read_partners(stream, key, counts, fade, slow, best)
    for row in range(60):
        one, other = 1.0, 1.0
        for each in set(range(streams)) - {int(stream[row])}:
            mine = [
                weight
                for seen, weight in zip(keys[each], weights[each], strict=True)
                if seen == key[row]
            ]
            counted = [fade[pace] * sum(w[pace] for w in mine) for pace in range(2)]
            one *= counted[0]
            other *= at_best(*counted)
        assert slow[row] == pytest.approx(one)
        assert best[row] == pytest.approx(other)


@pytest.mark.parametrize("slow", [0.0, 1.0, 10.0, 200.0, 1e4])
def test_the_fast_pace_counts_only_beyond_doubt(slow: float) -> None:
    expected = slow / FASTER
    doubt = 3.0 * math.sqrt((expected + 1.0) / 2.0)
    for fast in (expected - 0.999 * doubt, expected, expected + 0.999 * doubt):
        if fast >= 0.0:
            assert at_best(slow, fast) == slow
    risen = expected + 1.001 * doubt
    assert at_best(slow, risen) == pytest.approx(FASTER * (risen - math.sqrt(risen)))
    fallen = expected - 1.001 * doubt
    if fallen >= 0.0:
        assert at_best(slow, fallen) == pytest.approx(FASTER * fallen)


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
