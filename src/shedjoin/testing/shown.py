"""Rows and models with which a policy is tested, without a join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.learned import Models
from shedjoin.policies.base import Policy
from shedjoin.policies.residents import Around, Met, Residents
from shedjoin.types import FloatArray, IntArray

_NOW_US = 40_000_000
_KEEP_US = (20_000_000, 30_000_000)
_KEEPS_US = (_KEEP_US, (0, 30_000_000), (20_000_000, 0))
"""Retention of both streams. If it is 0, a row has no time left when it arrives."""


def shown(policy: Policy, seed: int) -> Residents:
    """Some residents as read-only arrays, with what the policy names in ``reads``."""
    rng = np.random.default_rng([seed, 4])
    count = int(rng.integers(0, 40))
    stream = rng.integers(0, 2, count)
    keep_us = _KEEPS_US[seed % len(_KEEPS_US)]
    first = np.where(np.array(keep_us)[stream] > 0, 10_000_000, _NOW_US)
    time = np.maximum(first, np.sort(rng.integers(10_000_000, _NOW_US, count)))
    matches = rng.integers(0, 4, count).astype(np.float64)
    met = Met(matches, time + rng.integers(0, 1_000_000, count))
    rows = Residents(
        stream=stream,
        key=rng.integers(0, 5, count),
        time=time,
        number=np.arange(count),
        importance=rng.choice([0.0, 1.0, 2.5, np.inf], count),
        size=np.ones(count, np.int64) if seed % 2 else rng.integers(40, 4000, count),
        now_us=_NOW_US,
        keep_us=keep_us,
        met=met if "matches" in policy.reads else None,
        around=_around(seed, count) if "partners" in policy.reads else None,
        learned=_learned(seed) if "models" in policy.reads else None,
        asked=type(policy).__name__,
    )
    for column in columns(rows):
        column.flags.writeable = False
    return rows


def columns(rows: Residents) -> Sequence[IntArray | FloatArray]:
    """All arrays of some rows."""
    own = (rows.stream, rows.key, rows.time, rows.number, rows.importance, rows.size)
    return (*own, *(rows.met or ()), *(rows.around or ()))


def _around(seed: int, count: int) -> Around:
    """Partners and last scores. The second half of the rows are arrivals."""
    rng = np.random.default_rng([seed, 6])
    produced = rng.integers(0, 3, count).astype(np.float64)
    last_score = np.where(np.arange(count) < count // 2, rng.random(count), np.nan)
    waited_us = np.where(np.isnan(last_score), 0, rng.integers(0, 9_000_000, count))
    return Around(produced + rng.integers(0, 3, count), produced, last_score, waited_us)


def _learned(seed: int) -> Models:
    rng = np.random.default_rng([seed, 5])
    models = Models(_KEEP_US, capacity_rows=100)
    time = np.sort(rng.integers(1_000_000, _NOW_US, 400))
    for part in np.split(np.arange(400), 8):
        models.observe(
            rng.integers(0, 2, part.size),
            rng.integers(0, 5, part.size),
            time[part],
            rng.integers(0, 4, part.size).astype(np.float64),
            rng.integers(40, 4000, part.size),
        )
    return models
