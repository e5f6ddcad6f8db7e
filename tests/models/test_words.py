"""Models live in one array of words, and all that they know is in it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.models.learned import Models
from shedjoin.models.words import cut, reals, size_of
from shedjoin.types import IntArray

SHAPES = [(2, 3), (4,), (0,), (1, 2, 5)]
KEEP = (4_000_000, 2_000_000, 3_000_000)


def test_arrays_lie_one_after_the_other() -> None:
    words = np.arange(size_of(SHAPES))
    parts = cut(words, SHAPES)
    assert words.size == 6 + 4 + 0 + 10
    assert [part.shape for part in parts] == SHAPES
    assert [part.reshape(-1).tolist() for part in parts] == [
        list(range(6)),
        list(range(6, 10)),
        [],
        list(range(10, 20)),
    ]


def test_what_is_written_to_a_part_is_in_the_words() -> None:
    words = np.zeros(size_of(SHAPES), np.int64)
    parts = cut(words, SHAPES)
    parts[1][2] = 7
    reals(parts[3])[0, 1, 4] = math.pi
    assert words[8] == 7
    assert words.view(np.float64)[19] == math.pi
    assert np.flatnonzero(words).tolist() == [8, 19]


def arrivals(
    rng: np.random.Generator, streams: int, step: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Stream, key and time of some rows of one second."""
    time = np.sort(rng.integers(1_000_000, size=40)) + (1 + step) * 1_000_000
    return rng.integers(streams, size=40), rng.integers(6, size=40), time


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("samples", [False, True])
def test_models_go_on_from_a_copy_of_their_words(
    streams: int, samples: bool, rng: np.random.Generator
) -> None:
    models = Models(KEEP[:streams], 30, samples=samples)
    assert models.words.size == Models.words_of(streams)
    for step in range(12):
        stream, key, time = arrivals(rng, streams, step)
        importance = rng.random(40)
        copy = Models(KEEP[:streams], 30, samples=samples, words=models.words.copy())
        for each in (models, copy):
            each.observe(stream, key, time, importance)
        assert copy.words.tolist() == models.words.tolist()
        assert copy.clock_us == models.clock_us == int(time[-1])
        assert copy.outlook == models.outlook
        assert copy.rate(0) == models.rate(0)
    assert (models.outlook.fraction < 1.0) == (samples and streams == 2)
    age = models.clock_us - time
    expected = models.priority(stream, key, age)
    assert expected.any()
    assert copy.priority(stream, key, age).tolist() == expected.tolist()
    expected = models.mean_worth(stream, importance)
    assert copy.mean_worth(stream, importance).tolist() == expected.tolist()


def test_models_go_on_in_words_with_more_room(rng: np.random.Generator) -> None:
    """Twice as many keys fit in there; nothing that was learned is lost."""
    models, keys = Models(KEEP[:2], 30), 900
    time = np.sort(rng.integers(10_000_000, 11_000_000, 2 * keys))
    stream, key = np.arange(2 * keys) % 2, np.arange(2 * keys) // 2
    models.observe(stream[:800], key[:800], time[:800])
    assert [models.is_crowded] == [False]
    models.observe(stream[800:], key[800:], time[800:])
    assert [models.is_crowded] == [True]
    words = np.zeros(models.roomier_words, np.int64)
    models.copy_to(words)
    larger = Models(KEEP[:2], 30, words=words)
    assert larger.frequency.keys == 2 * models.frequency.keys
    assert not larger.is_crowded
    for each in (models, larger):
        each.observe(stream[:5], key[:5], time[-1] + np.arange(5))
    age = larger.clock_us - time
    expected = models.priority(stream, key, age)
    assert expected.any()
    assert larger.priority(stream, key, age).tolist() == expected.tolist()
    assert larger.rate(1) == models.rate(1) > 0.0
