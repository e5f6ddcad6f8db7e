"""Random streams of four kinds; the same seed gives the same stream."""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np

from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import (
    DEFAULT,
    Adaptive,
    Amortised,
    Every,
    Recompute,
    Successive,
)
from shedjoin.spec.shedding import Combine, Discipline
from shedjoin.spec.window import Within
from shedjoin.testing.rows import NAMES, Rows, tables
from shedjoin.testing.scenario import Scenario
from shedjoin.types import BoolArray, IntArray

START_US = 1_700_000_000_000_000
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


@lru_cache(maxsize=256)
def busy(seed: int) -> Scenario:
    """A stream with skew, disorder, pauses and huge rows, and a random kind of join."""
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
    """Arrivals in order of time, ``per_batch`` in a micro-batch, or all of them in one.

    No two arrivals have the same time. The window may be short or long, compared with
    the time between two arrivals.
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
def steady(seed: int, rows: int = 200, first_key: int = 0) -> Scenario:
    """Skewed keys at a steady rate, in batches of 50 rows, without disorder."""
    rng = np.random.default_rng([seed, 3])
    time_us = START_US + np.arange(rows) // 2 * 1_000_000
    drawn = _rows(rng, time_us, skew=1.0)
    drawn = drawn._replace(key=drawn.key + first_key)
    return Scenario(
        seed=seed,
        batches=tables(drawn, [*range(0, rows, 50), rows]),
        budget=Budget(rows=rows),
        within=Within(before="25 seconds", after="25 seconds"),
        importance=("left_importance", "right_importance"),
    )


@lru_cache(maxsize=16)
def large(seed: int) -> Scenario:
    """Tens of thousands of rows: matches get rarer at first, later many come at once.

    While matches are rare, the table grows. So the kernel returns to Python, to get
    more room, when it has found one match or none. Later, it returns when it has found
    thousands of matches.
    """
    rng = np.random.default_rng([seed, 6])
    count = int(rng.integers(20_000, 26_000))
    step_us = 1_000_000
    clock = np.arange(count) - rng.integers(0, 4, count)
    drawn = _rows(rng, START_US + clock * step_us, skew=1.0)
    key = 1000 + np.arange(count)
    first = np.exp(rng.uniform(4.0, np.log(0.7 * count), 40)).astype(np.int64)
    key[first + rng.integers(1, 40, first.size)] = key[first]
    crowd = slice(int(0.8 * count), int(0.8 * count) + 1500)
    key[crowd] = drawn.key[crowd]
    arrivals = drawn._replace(key=key, length=drawn.length % _GIANT)
    cuts = np.sort(rng.integers(0, count, rng.integers(2, 6)))
    rows = int(rng.choice([0.03, 0.1, 0.3]) * count)
    split = 0.5 if _now_and_then(rng, 0.3) else None
    window = int(rng.choice([2000, 6000, count]))
    return Scenario(
        seed=seed,
        batches=tables(arrivals, [0, *cuts, count], text_keys=_now_and_then(rng, 0.3)),
        budget=Budget(rows=rows, split=split)
        if _now_and_then(rng, 0.7)
        else Budget(memory=250 * rows, split=split),
        within=_within((window, window), step_us),
        lateness=("5 seconds", "5 seconds"),
        discipline=get_args(Discipline)[(seed + 1) % 3 == 0],
        importance=("left_importance", "right_importance"),
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
    """Positions at which arrivals are cut into batches; some batches are empty."""
    cuts = [0]
    while cuts[-1] < count:
        size = 0 if _now_and_then(rng, 0.1) else rng.geometric(1.0 / typical)
        cuts.append(min(count, cuts[-1] + int(size)))
    return cuts


def _budget(rng: np.random.Generator, count: int) -> Budget:
    """A random budget: in rows or bytes, in one pool or split, from nothing to all."""
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
    return Within(before=before, after=after)
