"""The sketch of key counts against exact counts."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from shedjoin.kernels.rates import read_partners
from shedjoin.kernels.sketch import DEPTH, PACES, add_keys
from shedjoin.types import FloatArray, IntArray


def read(key: IntArray, cells: FloatArray) -> FloatArray:
    """Counts of keys at the slow pace, as the library reads them."""
    counts = np.zeros((2, cells.size // PACES, PACES))
    counts[1] = cells.reshape(-1, PACES)
    slow, best = np.zeros(key.size), np.zeros(key.size)
    stream = np.zeros(key.size, np.int64)
    fade = np.array([1.0, 1.0, 0.0])
    read_partners(stream, key, counts, fade, np.zeros(2), slow, best)
    return slow


def exact(key: IntArray, weight: FloatArray) -> dict[int, float]:
    count: dict[int, float] = defaultdict(float)
    for one, value in zip(key.tolist(), weight[::PACES].tolist(), strict=True):
        count[one] += value
    return count


@pytest.mark.parametrize("width", [2, 16, 256])
def test_a_count_is_never_too_low(width: int, rng: np.random.Generator) -> None:
    cells = np.zeros(DEPTH * width * PACES)
    key, weight = rng.integers(-50, 50, 600), rng.uniform(0.5, 2.0, 600 * PACES)
    for start in range(0, 600, 100):
        rows, weights = slice(start, start + 100), slice(2 * start, 2 * start + 200)
        add_keys(key[rows], weight[weights], cells)
        count = exact(key[: start + 100], weight[: weights.stop])
        keys = np.array(sorted(count))
        low = np.array([count[one] for one in sorted(count)])
        assert (read(keys, cells) >= low * (1.0 - 1e-12)).all()


def test_few_keys_in_a_wide_sketch_are_exact(rng: np.random.Generator) -> None:
    cells = np.zeros(DEPTH * 1024 * PACES)
    key, weight = rng.integers(20, size=300), rng.uniform(0.5, 2.0, 300 * PACES)
    add_keys(key, weight, cells)
    count = exact(key, weight)
    found = read(np.arange(25), cells)
    assert found.tolist() == pytest.approx([count[one] for one in range(25)])


def test_a_full_sketch_is_closer_than_adding_to_all_cells() -> None:
    """Cells grow no further than needed, so the sum of a row is at most all weights."""
    rng = np.random.default_rng(1)
    width, key = 32, np.random.default_rng(2).permutation(200).astype(np.int64)
    cells, weight = np.zeros(DEPTH * width * PACES), np.ones(200 * PACES)
    add_keys(rng.permutation(key), weight, cells)
    by_row = cells.reshape(DEPTH, width, PACES)[:, :, 0].sum(axis=1)
    assert (by_row < 0.9 * 200).all()
    assert read(key, cells).max() < 12.0


def test_the_paces_do_not_mix(rng: np.random.Generator) -> None:
    key, one, two = rng.integers(99, size=200), rng.random(200), rng.random(200)
    both, first = np.zeros(DEPTH * 16 * PACES), np.zeros(DEPTH * 16 * PACES)
    add_keys(key, np.stack([one, two], axis=1).reshape(-1), both)
    add_keys(key, np.stack([one, np.zeros(200)], axis=1).reshape(-1), first)
    assert both[::2].tolist() == first[::2].tolist()
    assert not first[1::2].any()
    second = np.zeros(DEPTH * 16 * PACES)
    add_keys(key, np.stack([two, two], axis=1).reshape(-1), second)
    assert both[1::2].tolist() == second[::2].tolist()
