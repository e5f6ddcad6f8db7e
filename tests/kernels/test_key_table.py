"""The hash table of key counts against counts in a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shedjoin.kernels.key_table import (
    BUCKET,
    PACES,
    KeyTable,
    add_keys,
    move_keys,
    read_keys,
)
from shedjoin.types import FloatArray, IntArray

Exact = Counter[tuple[int, int, int]]
"""Counts by key, stream and pace."""


def empty(keys: int, streams: int) -> KeyTable:
    return KeyTable(
        np.zeros(keys, np.int32), np.zeros((keys, streams, PACES), np.float32)
    )


def read(table: KeyTable, stream: int, pace: int, key: IntArray) -> FloatArray:
    found = np.full(key.size, np.nan)
    read_keys(stream, pace, key, table, found)
    return found


def count_some(
    table: KeyTable, key: IntArray, stream: int, rng: np.random.Generator, exact: Exact
) -> None:
    """Count keys of a stream with weights at random; the same in a dictionary."""
    weight = rng.integers(1, 5, (key.size, PACES))
    add_keys(stream, key, weight.reshape(-1).astype(np.float64), table)
    for one, by_pace in zip(key.tolist(), weight.tolist(), strict=True):
        for pace in range(PACES):
            exact[one, stream, pace] += by_pace[pace]


def check_all(table: KeyTable, key: IntArray, exact: Exact) -> None:
    """Compare every count of these keys."""
    for stream in range(table.counts.shape[1]):
        for pace in range(PACES):
            expected = [exact[one, stream, pace] for one in key.tolist()]
            assert read(table, stream, pace, key).tolist() == expected


@pytest.mark.parametrize("streams", [2, 3])
def test_counts_are_exact_while_there_is_room(
    streams: int, rng: np.random.Generator
) -> None:
    table, exact = empty(1024, streams), Exact()
    some = rng.integers(-(1 << 60), 1 << 60, 100)
    for _ in range(6):
        for stream in range(streams):
            count_some(table, rng.choice(some, 50), stream, rng, exact)
    unknown = rng.integers(-(1 << 60), 1 << 60, 20)
    check_all(table, np.concatenate([some, unknown]), exact)


def test_keys_move_into_a_table_with_more_room(rng: np.random.Generator) -> None:
    """Nothing is lost, and counting goes on there."""
    small, large, exact = empty(256, 2), empty(512, 2), Exact()
    some = rng.integers(1 << 60, size=60)
    for stream in range(2):
        count_some(small, some, stream, rng, exact)
    move_keys(small, large)
    check_all(large, some, exact)
    count_some(large, rng.choice(some, 90), 1, rng, exact)
    check_all(large, some, exact)


def test_a_new_key_takes_the_place_of_the_least() -> None:
    """Of all streams together, at the slow pace; it inherits no count."""
    table, key = empty(BUCKET, 2), np.arange(BUCKET)
    slow = np.array([5.0, 4.0, 9.0, 3.0, 8.0, 7.0, 6.0, 9.0])
    add_keys(0, key, np.stack([slow, 20.0 - slow], axis=1).reshape(-1), table)
    add_keys(1, key[3:4], np.array([3.0, 0.0]), table)  # so key 1 is the least
    add_keys(1, np.array([99]), np.array([1.0, 2.0]), table)
    left = np.delete(key, 1)
    assert read(table, 0, 0, left).tolist() == slow[left].tolist()
    assert read(table, 0, 0, np.array([1, 99])).tolist() == [0.0, 0.0]
    assert read(table, 1, 0, np.array([1, 99])).tolist() == [0.0, 1.0]
    assert read(table, 0, 1, np.array([1, 99])).tolist() == [0.0, 0.0]
    assert read(table, 1, 1, np.array([1, 99])).tolist() == [0.0, 2.0]


def test_a_small_table_keeps_frequent_keys(rng: np.random.Generator) -> None:
    """Rare keys lose their place and counts; no count is ever too high."""
    table, exact = empty(64, 1), Exact()
    frequent, rare = np.arange(12), np.arange(1000, 1500)
    count_some(table, np.repeat(frequent, 5), 0, rng, exact)
    for start in range(0, rare.size, 50):
        key = np.concatenate([frequent, rare[start : start + 50]])
        count_some(table, rng.permutation(key), 0, rng, exact)
    check_all(table, frequent, exact)
    found = read(table, 0, 0, rare)
    assert (found <= [exact[one, 0, 0] for one in rare.tolist()]).all()
    assert 0 < np.count_nonzero(found) <= 64 - frequent.size
