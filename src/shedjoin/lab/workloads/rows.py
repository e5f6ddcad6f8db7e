"""Rows of synthetic streams: event times, text, micro-batches."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.local.streams import START_US
from shedjoin.types import IntArray

Batches: TypeAlias = list[tuple[pa.Table, pa.Table]]
"""Micro-batches of a left and a right stream."""


def instants_column(time_us: IntArray) -> pa.Array:
    """Event times as an Arrow column."""
    return pa.array(time_us, pa.timestamp("us", "UTC"))


def text_column(rng: np.random.Generator, rows: int, width: int) -> pa.Array:
    """Random text of a given width, which makes rows about as long as real ones."""
    letters = rng.integers(ord("a"), ord("z") + 1, rows * width, np.uint8)
    ends = np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(letters))


def micro_batches(
    tables: list[pa.Table], times: tuple[str, str], seconds: int, batches: int
) -> Batches:
    """Cut two tables, sorted by time, into micro-batches of equal duration."""
    span_us = seconds * 1_000_000
    bounds = [START_US + span_us * part // batches for part in range(1, batches)]
    parts = []
    for table, name in zip(tables, times, strict=True):
        time_us = table.column(name).cast(pa.int64()).to_numpy()
        cuts = [0, *np.searchsorted(time_us, bounds), table.num_rows]
        parts.append([table.slice(a, b - a) for a, b in pairwise(cuts)])
    return list(zip(*parts, strict=True))
