"""Mean worth of a result against the mean over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.models.worth import Worth
from shedjoin.types import FloatArray, IntArray

from .rooms import room

LEVELS = np.array([0.0, 0.5, 1.0, 3.0, 8.0, 100.0])
"""Far enough from each other to be told apart."""


def empty(streams: int) -> Worth:
    return Worth(room(Worth.shapes(streams)))


def mean_of_pairs(
    own: int, mine: float, seen: list[tuple[IntArray, FloatArray, float]]
) -> float:
    """Mean of the lesser importance with every row of the other streams.

    What was seen is streams, importances, and how much each of them counts.
    """
    total = weights = 0.0
    for stream, importance, weight in seen:
        for other, theirs in zip(stream.tolist(), importance.tolist(), strict=True):
            if other != own and np.isfinite(theirs):
                total += weight * min(mine, theirs)
                weights += weight
    if not weights:
        return 1.0 if np.isinf(mine) else mine
    return total / weights


def fade_all(
    seen: list[tuple[IntArray, FloatArray, float]], fade: float
) -> list[tuple[IntArray, FloatArray, float]]:
    return [(stream, value, weight * fade) for stream, value, weight in seen]


@pytest.mark.parametrize("streams", [2, 3])
def test_mean_over_all_pairs(streams: int, rng: np.random.Generator) -> None:
    worth, seen = empty(streams), list[tuple[IntArray, FloatArray, float]]()
    mine = np.array([0.0, 0.2, 0.7, 2.0, 5.0, 50.0, 1e6, np.inf])
    for fade in (1.0, 0.9, 0.3, 1.0, 0.5):
        stream = rng.integers(streams, size=15)
        importance = rng.choice(LEVELS, 15)
        worth.add(stream, importance, fade)
        seen = [*fade_all(seen, fade), (stream, importance, 1.0)]
        for own in range(streams):
            found = worth.mean(np.full(mine.size, own), mine)
            expected = [mean_of_pairs(own, one, seen) for one in mine.tolist()]
            assert found.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("streams", [2, 3])
def test_a_stream_without_importance_has_no_say(streams: int) -> None:
    worth, own = empty(streams), np.zeros(3, np.int64)
    mine = np.array([0.5, 4.0, np.inf])
    assert worth.mean(own, mine).tolist() == [0.5, 4.0, 1.0]
    worth.add(np.array([1, 1]), np.array([np.inf, np.inf]), 1.0)
    assert worth.mean(own, mine).tolist() == [0.5, 4.0, 1.0]
    worth.add(np.array([0, 0]), np.array([1.0, 2.0]), 1.0)  # not of another stream
    assert worth.mean(own, mine).tolist() == [0.5, 4.0, 1.0]
    worth.add(np.array([1]), np.array([2.0]), 1.0)
    assert worth.mean(own, mine).tolist() == [0.5, 2.0, 2.0]


def test_half_octaves_are_close_to_the_truth(rng: np.random.Generator) -> None:
    """A bin counts as its mean, which makes the lesser of two no smaller."""
    worth = empty(2)
    stream, importance = np.ones(500, np.int64), rng.lognormal(0.0, 1.5, 500)
    worth.add(stream, importance, 1.0)
    mine = rng.lognormal(0.0, 1.5, 40)
    exact = np.minimum(mine[:, None], importance[None, :]).mean(axis=1)
    found = worth.mean(np.zeros(40, np.int64), mine)
    assert (found >= exact * (1 - 1e-12)).all()
    assert (found <= exact * 1.015).all()


def test_below_zero_counts_too() -> None:
    worth = empty(2)
    worth.add(np.ones(2, np.int64), np.array([-3.0, 1.0]), 1.0)
    found = worth.mean(np.zeros(3, np.int64), np.array([2.0, 0.0, -5.0]))
    assert found.tolist() == pytest.approx([-1.0, -1.5, -5.0])


def test_relative_to_the_mean_of_the_own_stream() -> None:
    worth, stream = empty(2), np.array([0, 0, 1, 1])
    mine = np.array([3.0, np.inf, 3.0, -8.0])
    assert worth.relative(stream, mine).tolist() == [1.0] * 4  # nothing is known yet
    worth.add(np.array([0, 0, 1]), np.array([np.inf, np.inf, 0.0]), 1.0)
    assert worth.relative(stream, mine).tolist() == [1.0] * 4
    worth.add(np.ones(3, np.int64), np.array([1.0, 4.0, 11.0]), 1.0)
    assert worth.relative(stream, mine).tolist() == [1.0, 1.0, 0.75, -2.0]


def test_relative_values_stay_finite() -> None:
    """One that is beyond all measure has a size, and so have those after it."""
    worth, stream = empty(2), np.zeros(2, np.int64)
    worth.add(stream, np.array([1e-300, 1e-300]), 1.0)
    found = worth.relative(stream, np.array([1e150, -1e150]))
    assert found.tolist() == pytest.approx([1e9, -1e9])
    worth.add(stream, np.array([1e150, 1e150]), 1.0)
    found = worth.relative(stream, np.array([1e150, 1.0]))
    assert np.isfinite(found**2).all()
