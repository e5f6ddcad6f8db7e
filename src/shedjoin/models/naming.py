"""Choice of the keys that are counted exactly: those with most of the results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.models.frequency import Frequency
from shedjoin.models.frequent import MOST, Frequent, Rows
from shedjoin.models.monitored import Slice
from shedjoin.types import FloatArray, IntArray

_LOOKED_AT = 2048
"""About how many arrivals are examined, evenly spaced among all arrivals."""
_PER_WINDOW = 16
_LARGE = 1.0 / 512.0
"""Least part of all results for which a key is counted exactly."""
_PARTNERS = 2.0
"""Least mean number of matches of its rows. It excludes keys that come only once."""
_DOTS = 64
"""If the times of rows are unknown, this number of evenly spaced times is used."""


class Came(NamedTuple):
    """Arrivals, the time since counting began, and the clock before and after them."""

    stream: IntArray
    key: IntArray
    importance: FloatArray
    passed_us: int
    before_us: int
    clock_us: int


def name_frequent(
    came: Came, frequency: Frequency, monitored: Slice, frequent: Frequent
) -> None:
    """Start to count exactly the results of keys that have a large part of them.

    Such keys are looked for 16 times in each window. The results of a key are estimated
    from its counts. If there is no room, a new key must have twice the results of the
    key that it replaces.
    """
    period = max(1, max(monitored.keep_us) // _PER_WINDOW)
    periods = came.clock_us // period - came.before_us // period
    if not periods:
        return
    step = max(1, came.key.size // _LOOKED_AT)
    names = np.unique(came.key[came.key.size % step :: step])
    count = frequency.of_streams(names, came.clock_us)
    results, total = count.prod(axis=0), frequency.all_products(came.clock_us)
    large = results >= _LARGE * total
    large &= results * count.shape[0] >= _PARTNERS * count.sum(axis=0)
    large[large] = frequent.numbers(names[large]) < 0
    chosen = np.flatnonzero(large)
    part = float(results[chosen].sum() / max(total, 1e-30))
    frequent.renew(part, periods / _PER_WINDOW)
    if not chosen.size:
        return
    frequent.forget_idle()
    for name in names[chosen[np.argsort(-results[chosen], kind="stable")]].tolist():
        known = [
            _known_rows(own, name, came, frequency, monitored)
            for own in range(len(monitored.keep_us))
        ]
        if frequent.size == MOST:
            number, fewest = frequent.weakest()
            if np.prod([rows.weight.sum() for rows in known]) <= 2.0 * fewest:
                return
            frequent.drop(np.array([number]))
        frequent.add(name, known)


def _known_rows(
    stream: int, key: int, came: Came, frequency: Frequency, monitored: Slice
) -> Rows:
    """Rows of a key that can still be matched: its ghosts, or else an estimate."""
    mine = came.importance[came.stream == stream]
    importance = float(mine.mean()) if mine.size else np.inf
    one = np.array([key], np.int64)
    if monitored.monitored(one)[0]:
        ghosts = monitored.ghosts(stream)
        time = ghosts.time[ghosts.key == key]
        return Rows(time, np.ones(time.size), importance)
    rate, lives = frequency.come_since(stream, one, came.clock_us, came.passed_us)
    span_us = min(float(lives[0]) * frequency.half_life_us, float(came.passed_us))
    rows = float(rate[0]) * span_us / frequency.half_life_us
    ago = (np.arange(_DOTS) + 0.5) * (span_us / _DOTS)
    weight = np.full(_DOTS, rows / _DOTS)
    return Rows(came.clock_us - ago.astype(np.int64), weight, importance)
