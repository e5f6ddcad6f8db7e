"""Streams in unit steps: one row of each stream per second."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.lab.workloads.rows import Batches, instants_column
from shedjoin.local.streams import START_US
from shedjoin.types import FloatArray, IntArray

SECOND_US = 1_000_000
TIMES = ("left_time", "right_time")
WORTHS = ("left_worth", "right_worth")
HOT_VALUES, HOT_PART, HOT_STEPS = 5, 0.3, 25
"""Drifting data: 30 % of the rows have one of 5 values, redrawn every 25 steps."""

UNIFORM = "uniform values, independent importance"
UNIFORM_BY_VALUE = "uniform values, importance by value"
ZIPF = "Zipf 1 values, importance by value"
DRIFTING = "drifting hot values, independent importance"
DRIFTING_BY_VALUE = "drifting hot values, importance by value"
EQUAL = "uniform values, equal importance"
DATA = (UNIFORM, UNIFORM_BY_VALUE, ZIPF, DRIFTING, DRIFTING_BY_VALUE)


class Streams(NamedTuple):
    """Both streams; each array has a row per stream. Times are in seconds."""

    key: IntArray
    importance: FloatArray
    time_s: FloatArray


def draw(data: str, *, domain: int, steps: int, seed: int) -> Streams:
    """Draw values and importances, the latter real numbers from 1 to 100."""
    rng = np.random.default_rng([seed, domain, steps])
    shape = (2, steps)
    if data == ZIPF:
        weights = 1.0 / np.arange(1, domain + 1)
        key = rng.choice(domain, shape, p=weights / weights.sum())
    else:
        key = rng.integers(0, domain, shape)
    if data in (DRIFTING, DRIFTING_BY_VALUE):
        key = np.where(rng.random(shape) < HOT_PART, _hot(rng, domain, shape), key)
    if data == EQUAL:
        importance = np.ones(shape)
    elif data in (UNIFORM, DRIFTING):
        importance = rng.uniform(1, 100, shape)
    else:
        importance = rng.uniform(1, 100, domain)[key]
    time_s = np.tile(np.arange(1.0, steps + 1), (2, 1))
    return Streams(key, importance, time_s)


def _hot(
    rng: np.random.Generator, domain: int, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """A hot value for every row; both streams have the same ones at a time."""
    spells = -(-shape[1] // HOT_STEPS)
    hot = np.array(
        [rng.choice(domain, HOT_VALUES, replace=False) for _ in range(spells)]
    )
    spell = np.arange(shape[1]) // HOT_STEPS
    return np.asarray(hot[spell, rng.integers(0, HOT_VALUES, shape)])


def tables(streams: Streams) -> Batches:
    """One micro-batch of both streams."""
    sides = []
    for side in (0, 1):
        time_us = START_US + np.rint(streams.time_s[side] * SECOND_US).astype(np.int64)
        columns = {
            "key": pa.array(streams.key[side]),
            TIMES[side]: instants_column(time_us),
            WORTHS[side]: pa.array(streams.importance[side]),
        }
        sides.append(pa.table(columns))
    return [(sides[0], sides[1])]
