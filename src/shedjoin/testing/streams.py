"""Random streams of three kinds; the same seed gives the same one."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa

from shedjoin.core.budget import Budget
from shedjoin.core.policy import Discipline
from shedjoin.core.recompute import (
    DEFAULT,
    Adaptive,
    Amortised,
    Every,
    Recompute,
    Successive,
)
from shedjoin.core.shedding import Combine
from shedjoin.core.window import Within
from shedjoin.testing.scenario import KEY, TIMES, Scenario, Tables
from shedjoin.types import BoolArray, FloatArray, IntArray

START_US = 1_700_000_000_000_000
NAMES = ("left", "right")
_TEXT = 8
_GIANT = 1000 * 40
_STEPS_US = (1_000_000, 37_000, 250)
_RECOMPUTE: tuple[Recompute, ...] = (
    DEFAULT,
    DEFAULT,
    Amortised(1.0),
    Successive(),
    Every(3),
    Adaptive(span=2),
)


class Rows(NamedTuple):
    """Arrivals of both streams in the order in which they come."""

    side: IntArray
    key: IntArray
    time_us: IntArray
    importance: FloatArray
    length: IntArray


@lru_cache(maxsize=256)
def busy(seed: int) -> Scenario:
    """Everything at once: skew, disorder, pauses, giant rows, any budget and order."""
    rng = np.random.default_rng([seed, 1])
    typical = float(rng.choice([1.5, 10.0, 60.0]))
    count = int(rng.integers(10, 20 + 10 * int(typical**0.6)))
    step_us = int(rng.choice(_STEPS_US))
    window = int(rng.integers(0, 50)), int(rng.integers(0, 50))
    slack = int(rng.choice([0, 0, 10, 100]))
    clock = np.cumsum(rng.random(count) < rng.choice([0.1, 0.5, 1.0]))
    clock += np.cumsum(_some(rng, 0.01, count) * (sum(window) + slack + 2))
    late = rng.integers(0, slack + 1, count)
    late += _some(rng, 0.02, count) * rng.integers(0, 3 * slack + 10, count)
    arrivals = _rows(rng, START_US + (clock - late) * step_us)
    cuts = _cuts(rng, count, typical)
    lateness = f"{slack * step_us} microseconds"
    names = [f"{name}_importance" for name in NAMES]
    left, right = _some(rng, 0.5, 2)
    return Scenario(
        seed=seed,
        batches=tables(arrivals, cuts, text_keys=_now_and_then(rng, 0.2)),
        budget=_budget(rng, count),
        within=_within(window, step_us),
        lateness=(lateness, lateness),
        shards=int(rng.choice([1, 1, 1, 2, 3])),
        discipline=get_args(Discipline)[rng.integers(2)],
        recompute=_RECOMPUTE[rng.integers(len(_RECOMPUTE))],
        importance=(names[0] if left else None, names[1] if right else None),
        combine=get_args(Combine)[rng.integers(len(get_args(Combine)))],
    )


@lru_cache(maxsize=256)
def in_order(seed: int, per_batch: int | None = None) -> Scenario:
    """One arrival at a time, in order of time; ``per_batch`` of them, or all at once.

    Time passes fast or slowly, compared with the window.
    """
    rng = np.random.default_rng([seed, 2])
    count = int(rng.integers(10, 80))
    window = int(rng.choice([5, 30, 300])), int(rng.choice([5, 30, 300]))
    step_us = 1_000_000
    clock = np.cumsum(rng.integers(1, 4, count))
    return Scenario(
        seed=seed,
        batches=tables(
            _rows(rng, START_US + clock * step_us),
            [*range(0, count, per_batch or count), count],
        ),
        budget=Budget(
            rows=int(rng.integers(0, count // 2)),
            split=float(rng.random()) if _now_and_then(rng, 0.3) else None,
        ),
        within=_within(window, step_us),
        discipline=get_args(Discipline)[rng.integers(2)],
        importance=("left_importance", "right_importance"),
    )


@lru_cache(maxsize=256)
def steady(seed: int, rows: int = 200) -> Scenario:
    """Skewed keys at a steady rate, in batches of 50 rows, without disorder."""
    rng = np.random.default_rng([seed, 3])
    time_us = START_US + np.arange(rows) // 2 * 1_000_000
    return Scenario(
        seed=seed,
        batches=tables(_rows(rng, time_us, skew=1.0), [*range(0, rows, 50), rows]),
        budget=Budget(rows=rows),
        within=Within(before="25 seconds", after="25 seconds"),
        importance=("left_importance", "right_importance"),
    )


def tables(
    rows: Rows, cuts: list[int], *, text_keys: bool = False
) -> tuple[Tables, ...]:
    """Cut arrivals into micro-batches; ``left`` and ``right`` are their numbers."""
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
    zero = rows.importance[at] == 0  # a missing importance is none
    return pa.table(
        {
            KEY: key.cast(pa.string()) if text_keys else key,
            TIMES[side]: pa.array(rows.time_us[at]).cast(pa.timestamp("us", "UTC")),
            name: pa.array(at),
            f"{name}_importance": pa.array(rows.importance[at], mask=zero),
            f"{name}_text": pa.array(letters, pa.string()),
        }
    )


def _rows(
    rng: np.random.Generator, time_us: IntArray, skew: float | None = None
) -> Rows:
    count = time_us.size
    keys = int(rng.choice([1, 3, 20])) if skew is None else 40
    worn = rng.choice([0.0, 0.7, 1.5]) if skew is None else skew
    weight = (1.0 + np.arange(keys)) ** -worn
    length = rng.poisson(_TEXT, count)
    length[_some(rng, 0.01, count)] = _GIANT
    return Rows(
        side=(rng.random(count) < rng.choice([0.2, 0.5, 0.5])).astype(np.int64),
        key=rng.choice(keys, count, p=weight / weight.sum()),
        time_us=time_us,
        importance=rng.integers(0, 6, count).astype(np.float64),
        length=length,
    )


def _cuts(rng: np.random.Generator, count: int, typical: float) -> list[int]:
    """Ends of batches of one to many rows, some of them empty."""
    cuts = [0]
    while cuts[-1] < count:
        size = 0 if _now_and_then(rng, 0.1) else rng.geometric(1.0 / typical)
        cuts.append(min(count, cuts[-1] + int(size)))
    return cuts


def _budget(rng: np.random.Generator, count: int) -> Budget:
    """Rows or bytes, pooled or split; nothing, hardly anything or half of all."""
    split = None
    if _now_and_then(rng, 0.4):
        split = float(rng.choice([0.0, 0.5, 1.0, float(rng.random())]))
    if _now_and_then(rng, 0.5):
        few = int(rng.integers(0, 3))
        some = int(rng.integers(count))
        return Budget(rows=few if _now_and_then(rng, 0.4) else some, split=split)
    tiny = int(rng.choice([0, 1, 100, 300]))
    some = int(100 * 300 ** rng.random())
    return Budget(memory=tiny if _now_and_then(rng, 0.3) else some, split=split)


def _some(rng: np.random.Generator, chance: float, count: int) -> BoolArray:
    return rng.random(count) < chance


def _now_and_then(rng: np.random.Generator, chance: float) -> bool:
    return bool(rng.random() < chance)


def _within(window: tuple[int, int], step_us: int) -> Within:
    before, after = (f"{steps * step_us} microseconds" for steps in window)
    return Within(before, after)
