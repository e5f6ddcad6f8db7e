"""Expected matches that uniform and PPS samples go by."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.models.learned import Models

SECOND = 1_000_000
WINDOW_S, KEYS = 100, 20


@pytest.mark.parametrize("block_s", [5, 50, 100])
def test_matches_are_right_however_long_the_blocks(block_s: int) -> None:
    """Twenty keys, ten rows a second of each side: a row has fifty matches."""
    models = Models((WINDOW_S * SECOND, WINDOW_S * SECOND), capacity_rows=4000)
    rng = np.random.default_rng(5)
    rows, start = 20 * block_s, 1_700_000_000
    for first in range(start, start + 40 * WINDOW_S, block_s):
        instants = rng.integers(first * SECOND, (first + block_s) * SECOND, rows)
        side, key = rng.integers(0, 2, rows), rng.integers(0, KEYS, rows)
        models.observe(side, key, np.sort(instants))
    for own in (0, 1):
        found = models.expected_matches(np.full(KEYS, own), np.arange(KEYS))
        assert found.mean() == pytest.approx(10 * WINDOW_S / KEYS, rel=0.12)


@pytest.mark.parametrize("passed_s", [10, 20, 30, 50, 100])
def test_matches_are_right_from_the_first_window_on(passed_s: int) -> None:
    """Half of the rows have one of twenty keys and 50 matches, others next to none."""
    models = Models((WINDOW_S * SECOND, WINDOW_S * SECOND), capacity_rows=20_000)
    rng, rows = np.random.default_rng(7), 40
    for first in range(1_700_000_000, 1_700_000_000 + passed_s):
        instants = rng.integers(first * SECOND, (first + 1) * SECOND, rows)
        rare = KEYS + rng.integers(0, 1 << 40, rows)
        key = np.where(rng.random(rows) < 0.5, rng.integers(0, KEYS, rows), rare)
        models.observe(rng.integers(0, 2, rows), key, np.sort(instants))
    for own in (0, 1):
        found = models.expected_matches(np.full(KEYS, own), np.arange(KEYS))
        assert found.mean() == pytest.approx(10 * WINDOW_S / KEYS, rel=0.3)


@pytest.mark.parametrize("rows", [256, 1000])
def test_first_arrivals_that_come_at_once_do_not_look_rare(rows: int) -> None:
    """Half of the rows have one key: it does not match a hundred times as often.

    Of a sixtieth of a window, what its rows will match is known to a factor of three.
    """
    models = Models((WINDOW_S * SECOND, WINDOW_S * SECOND), capacity_rows=20_000)
    rng = np.random.default_rng(7)
    time = 1_700_000_000 * SECOND + np.arange(rows) * (10 * SECOND * WINDOW_S // 60_000)
    key = np.where(rng.random(rows) < 0.5, 0, rng.integers(1, 1 << 40, rows))
    models.observe(rng.integers(0, 2, rows), key, time)
    found = models.expected_matches(np.arange(2), np.zeros(2, np.int64))
    assert 1 / 3 < found.mean() / (6000 / 4) < 3
