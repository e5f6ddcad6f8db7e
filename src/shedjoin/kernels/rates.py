"""What is known of keys, row by row: counts at two paces, and rates of results."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.sketch import DEPTH, SALT
from shedjoin.types import Cube, FloatArray, Grid, IntArray

FASTER = 10
_DOUBT = 3.0


@inline_kernel
def at_best(slow: float, fast: float) -> float:
    """Take the fast pace's count where it differs by more than chance allows.

    A rise counts for what is certain of it.
    """
    expected = slow / FASTER
    if abs(fast - expected) <= _DOUBT * np.sqrt(0.5 * expected + 0.5):
        return slow
    if fast > expected:
        fast -= np.sqrt(fast)
    return fast * FASTER


@kernel_no_refcount
def read_partners(
    stream: IntArray,
    key: IntArray,
    counts: Cube,
    fade: FloatArray,
    into_slow: FloatArray,
    into_best: FloatArray,
) -> None:
    """Count of each row's key on the other streams: at the slow pace, and at best.

    ``counts`` is by stream, cell and pace. Counts of several streams multiply.
    """
    streams, cells, _ = counts.shape
    width = cells // DEPTH
    for row in range(key.size):
        bits = mixed(key[row] ^ SALT)
        into_slow[row] = 1.0
        into_best[row] = 1.0
        for other in range(streams):
            if other == stream[row]:
                continue
            slow, fast = np.inf, np.inf
            for depth in range(DEPTH):
                cell = depth * width + ((bits >> (21 * depth)) & (width - 1))
                slow = min(slow, counts[other, cell, 0])
                fast = min(fast, counts[other, cell, 1])
            into_slow[row] *= fade[0] * slow
            into_best[row] *= at_best(fade[0] * slow, fade[1] * fast)


@kernel_no_refcount
def read_table(
    stream: IntArray,
    level: IntArray,
    age_us: IntArray,
    per_us: FloatArray,
    table: Cube,
    into_rate: FloatArray,
) -> None:
    """Read ``table[stream, level, age]``, between two ages in proportion."""
    last = table.shape[2] - 1
    for row in range(stream.size):
        own = stream[row]
        age = min(age_us[row] * per_us[own], float(last))
        before = int(age)
        after = min(before + 1, last)
        here = table[own, level[row], before]
        there = table[own, level[row], after]
        into_rate[row] = here + (age - before) * (there - here)


@kernel_no_refcount
def add_spans(
    level: IntArray, young: FloatArray, old: FloatArray, into_time: FloatArray
) -> None:
    """Add the time from one age to another to the ages between, by level.

    Ages count in buckets; ``into_time`` is by level and bucket.
    """
    last = into_time.shape[1]
    for row in range(level.size):
        low, high = max(young[row], 0.0), min(old[row], float(last))
        bucket = int(low)
        while bucket < high:
            into_time[level[row], bucket] += min(high, bucket + 1.0) - max(low, bucket)
            bucket += 1


@kernel_no_refcount
def best_means(total: Grid, into_best: Grid) -> None:
    """``max over j > i of (total[j] - total[i]) / (j - i)`` for each i, row by row."""
    rows, ages = into_best.shape
    for row in range(rows):
        for age in range(ages):
            best = -np.inf
            for later in range(age + 1, ages + 1):
                mean = (total[row, later] - total[row, age]) / (later - age)
                best = max(best, mean)
            into_best[row, age] = best
