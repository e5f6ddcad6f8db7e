"""Streams and relations of the paper's experiments."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shedjoin.lab.offline import StarArchive
from shedjoin.types import FloatArray, IntArray

VALUES = 100
LEAST, MOST = 1.0, 10.0
"""Importances of the most frequent and of the rarest value."""


def drawn(
    seed: int, *, rows: int = 5000, facts: int = 250, window: int = 10
) -> StarArchive:
    """R by Zipf's law, S and F uniform; a row of each stream at every instant."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, VALUES + 1)
    left = rng.choice(VALUES, rows, p=share / share.sum())
    right = rng.integers(VALUES, size=rows)
    fact = rng.choice(VALUES * VALUES, facts, replace=False)
    return StarArchive(
        _stream("a", left),
        _stream("b", right),
        pa.table({"a": fact // VALUES, "b": fact % VALUES}),
        on=(("a", "a"), ("b", "b")),
        within=window - 1,
        importance="importance",
    )


def _stream(key: str, value: IntArray) -> pa.Table:
    time = np.arange(value.size)
    return pa.table({"time": time, key: value, "importance": _importance(value)})


def _importance(value: IntArray) -> FloatArray:
    """By how rare the value is among all values; of equally rare ones, by number."""
    rank = np.empty(VALUES)
    by_count = np.argsort(-np.bincount(value, minlength=VALUES), kind="stable")
    rank[by_count] = np.linspace(LEAST, MOST, VALUES)
    return rank[value]
