"""Arrivals, and the micro-batches of tables that they are cut into."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.testing.scenario import KEY, TIMES, Tables
from shedjoin.types import FloatArray, IntArray

NAMES = ("left", "right")


class Rows(NamedTuple):
    """Arrivals of both streams in the order in which they come."""

    side: IntArray
    key: IntArray
    time_us: IntArray
    importance: FloatArray
    length: IntArray


def tables(
    rows: Rows, cuts: list[int], *, text_keys: bool = False
) -> tuple[Tables, ...]:
    """Cut arrivals into micro-batches. A column has the number of each arrival."""
    batches = []
    for first, last in pairwise(cuts):
        at = np.arange(first, last)
        left, right = (
            _table(rows, at[rows.side[at] == side], side, text_keys=text_keys)
            for side in (0, 1)
        )
        batches.append((left, right))
    return tuple(batches)


def _table(rows: Rows, at: IntArray, side: int, *, text_keys: bool) -> pa.Table:
    name = NAMES[side]
    key = pa.array(rows.key[at])
    letters = [chr(97 + number % 26) * rows.length[number] for number in at]
    zero = rows.importance[at] == 0  # a null means importance 0
    return pa.table(
        {
            KEY: key.cast(pa.string()) if text_keys else key,
            TIMES[side]: pa.array(rows.time_us[at]).cast(pa.timestamp("us", "UTC")),
            name: pa.array(at),
            f"{name}_importance": pa.array(rows.importance[at], mask=zero),
            f"{name}_text": pa.array(letters, pa.string()),
        }
    )
