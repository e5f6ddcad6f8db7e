"""What sizes tell of matches, beyond what keys do."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.models.curve import Curve
from shedjoin.models.sizes import CLASSES, Sizes, octave_of
from shedjoin.types import FloatArray, IntArray

from .rooms import room

KEEP = (10_000_000, 20_000_000)
SMALL, LARGE = 200, 20_000


def taught(level: IntArray, size: IntArray, matches: IntArray) -> Sizes:
    """A model that saw rows of the first stream for a life of theirs."""
    curve = Curve(room(Curve.shapes(2)), KEEP, 4 * max(KEEP))
    sizes = Sizes(room(Sizes.shapes(2)), curve)
    octave, own = octave_of(size), np.zeros(size.size, np.int64)
    sizes.add_matches(own, level, octave, matches)
    curve.add_keys(0, level, KEEP[0])  # each row has a key of its own
    sizes.tick(KEEP[0])
    sizes.add_time(0, level, octave, np.full(size.size, KEEP[0]))
    return sizes


def factors(sizes: Sizes, *size: int, stream: int = 0) -> FloatArray:
    return sizes.factor(np.full(len(size), stream), np.array(size, np.int64))


def test_sizes_that_tell_nothing_leave_all_as_it_is(rng: np.random.Generator) -> None:
    size = rng.lognormal(6.0, 1.5, 20_000).astype(np.int64)
    level = rng.integers(0, 20, size.size)
    found = factors(taught(level, size, rng.poisson(0.1 * level)), 100, 500, 2000, 9000)
    assert found == pytest.approx(1.0, abs=0.15)


def test_large_rows_that_match_more_often_are_worth_more(
    rng: np.random.Generator,
) -> None:
    size = np.where(rng.random(20_000) < 0.5, SMALL, LARGE)
    matches = rng.poisson(np.where(size == LARGE, 0.4, 0.1))
    small, large = factors(taught(np.zeros_like(size), size, matches), SMALL, LARGE)
    assert large / small == pytest.approx(4.0, rel=0.2)


def test_a_size_that_goes_with_frequent_keys_tells_nothing(
    rng: np.random.Generator,
) -> None:
    """All that large rows match more often is known from their keys."""
    level = np.where(rng.random(20_000) < 0.5, 2, 20)
    size = np.where(level == 20, LARGE, SMALL)
    found = factors(taught(level, size, rng.poisson(0.3 * level)), SMALL, LARGE)
    assert found == pytest.approx(1.0, abs=0.05)


def test_few_matches_tell_little() -> None:
    size = np.where(np.arange(100) % 2, SMALL, LARGE)
    matches = (np.arange(100) < 4) * (size == LARGE).astype(np.int64)
    small, large = factors(taught(np.zeros_like(size), size, matches), SMALL, LARGE)
    assert 1.0 < large / small < 1.2


def test_one_frequent_key_tells_little() -> None:
    """Its rows are large and match a thousand times as often as others of the level."""
    size = np.where(np.arange(1000) < 10, LARGE, SMALL)
    level = np.where(np.arange(1000) < 40, 25, 0)
    matches = np.where(size == LARGE, 1000, np.where(level == 25, 1, 0))
    _, large = factors(taught(level, size, matches), SMALL, LARGE)
    assert large < 2.5


def test_between_classes_factors_pass_evenly(rng: np.random.Generator) -> None:
    size = np.exp2(rng.uniform(8, 14, 50_000)).astype(np.int64)
    matches = rng.poisson(size / 10_000)
    asked = np.exp2(np.linspace(9, 13, 200)).astype(np.int64)
    found = factors(taught(np.zeros_like(size), size, matches), *asked.tolist())
    assert (np.diff(found) >= -1e-12).all()
    assert (found[1:] / found[:-1]).max() < 1.2
    assert found[-1] / found[0] == pytest.approx(16.0, rel=0.25)


def test_rows_of_a_budget_in_rows_are_not_told_apart(rng: np.random.Generator) -> None:
    size = np.where(rng.random(5000) < 0.5, SMALL, LARGE)
    sizes = taught(np.zeros_like(size), size, rng.poisson(size / 10_000))
    assert factors(sizes, 1, 1).tolist() == [1.0, 1.0]
    only_rows = taught(np.zeros_like(size), np.ones_like(size), rng.poisson(1.0, 5000))
    assert factors(only_rows, 1, SMALL, LARGE).tolist() == [1.0, 1.0, 1.0]


def test_streams_are_told_apart(rng: np.random.Generator) -> None:
    size = np.where(rng.random(5000) < 0.5, SMALL, LARGE)
    sizes = taught(np.zeros_like(size), size, rng.poisson(size / 10_000))
    assert factors(sizes, SMALL, LARGE, stream=1).tolist() == [1.0, 1.0]


def test_sizes_of_any_magnitude_have_a_class() -> None:
    size = np.array([1, 64, 1 << 20, (1 << 21) - 1, 1 << 62])
    assert octave_of(size).tolist() == [0, 1, CLASSES - 1, CLASSES - 1, CLASSES - 1]
