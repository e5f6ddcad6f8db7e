"""Matches of a join without a limit, by the counts of keys."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.models.learned import Models

WINDOW_US = 2_000_000
ROWS, KEYS, BLOCK = 3000, 40, 100


def test_counts_of_keys_tell_all_matches() -> None:
    """Few of the keys are monitored, and one has most of the matches."""
    rng = np.random.default_rng(5)
    chance = 1.0 / np.arange(1, KEYS + 1) ** 1.2
    key = rng.choice(KEYS, ROWS, p=chance / chance.sum())
    stream, time = rng.integers(0, 2, ROWS), np.arange(ROWS) * 4000
    models = Models((WINDOW_US, WINDOW_US), capacity_rows=100)
    models.slice._halvings[0] = 2
    half = ROWS // 2
    for start in range(0, ROWS, BLOCK):
        if start == half:
            models.begin_count()
        rows = slice(start, start + BLOCK)
        models.observe(stream[rows], key[rows], time[rows])
    earlier = np.arange(ROWS)[:, None] > np.arange(ROWS)[None, :]
    near = time[:, None] - time[None, :] <= WINDOW_US
    meet = earlier & near & (key[:, None] == key) & (stream[:, None] != stream)
    exact, matched = models.exact_matches(1.0, 0.0)
    assert models.slice.share < 1
    assert exact == pytest.approx(meet[half:].sum(), rel=0.1)
    assert matched == 1.0


def test_matches_of_an_arrival_over_both_streams() -> None:
    """A key that comes on one stream only has none."""
    models = Models((WINDOW_US, WINDOW_US), capacity_rows=100)
    time = np.arange(1000) * 4000
    stream = np.arange(1000) % 2
    key = np.where(stream == 0, np.arange(1000) % 3, np.arange(1000) % 2)
    for start in range(0, 1000, BLOCK):
        rows = slice(start, start + BLOCK)
        models.observe(stream[rows], key[rows], time[rows])
    found = models.matches_per_arrival(np.array([0, 1, 2, 99]))
    assert found[0] > 0
    assert found[3] == 0.0
    assert models.rows_in_window() == pytest.approx(500, rel=0.05)
