"""What is known of keys, row by row: counts at two paces, and rates of results."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.key_table import KeyTable, find_key
from shedjoin.types import Cube, FloatArray, Grid, IntArray

FASTER = 10
_DOUBT = 3.0
_STEPS = 12
SHORTEST = 1.0 / 64.0
"""Half-lives that a key has come for at least: sooner, one arrival says too little."""
_YOUNGEST = float(np.exp2(-SHORTEST))


@inline_kernel
def begun(share: float) -> float:
    """``2^-t`` of a key that has come for t half-lives, evenly and not before.

    ``share`` is its count at the fast pace in parts of that at the slow one. The slow
    pace has reached ``1 - x`` of its steady count with ``x = 2^-t``, the fast one
    ``1 - x^10`` of a tenth of it. Their ratio is ``(1 + x + ... + x^9) / 10``, which
    tells x; Newton's steps come from above and do not overshoot.
    """
    x = 1.0
    for _ in range(_STEPS):
        value, slope = 1.0, 0.0
        for _ in range(FASTER - 1):
            slope = slope * x + value
            value = value * x + 1.0
        x = max(0.0, x - (value - FASTER * share) / slope)
    return x


@inline_kernel
def at_best(slow: float, fast: float, faded: float) -> float:
    """Steady count of a key: by the slow pace, or beyond doubt by the fast one.

    ``faded`` is ``2^-t`` if counting began t half-lives ago: counts have reached only
    a part of what they would come to. What chance allows is judged by the counts
    themselves.

    A rise counts for one standard deviation less, and as if the key had begun to come
    when its two counts say. A fall is taken to go on: by the time that it is beyond
    doubt, the fast pace still counts much of what was before it.
    """
    reached = 1.0 - faded**FASTER
    expected = slow / (1.0 - faded) * reached / FASTER
    if abs(fast - expected) <= _DOUBT * np.sqrt(0.5 * expected + 0.5):
        return slow / (1.0 - faded)
    if fast < expected:
        return fast * FASTER / reached * (fast / expected)
    since = begun_since(fast / slow, faded)
    certain = float(fast - np.sqrt(0.5 * fast))
    return certain * FASTER / (1.0 - since**FASTER)


@inline_kernel
def begun_since(share: float, faded: float) -> float:
    """As :func:`begun`, but not before counting began, and not just now."""
    return max(faded, min(begun(share), _YOUNGEST))


@kernel_no_refcount
def begun_at(share: FloatArray, faded: float, into: FloatArray) -> None:
    """As :func:`begun_since`, for many keys."""
    for row in range(share.size):
        into[row] = begun_since(share[row], faded)


@kernel_no_refcount
def read_partners(
    stream: IntArray,
    key: IntArray,
    table: KeyTable,
    fade: FloatArray,
    into_slow: FloatArray,
    into_best: FloatArray,
) -> None:
    """Count of each row's key on the other streams so far, and at best its steady one.

    Counts of several streams multiply. ``fade`` is what counts have faded to at either
    pace; last, what an arrival would have faded to at the slow pace that came when
    counting began.
    """
    for row in range(key.size):
        place = find_key(key[row], table)
        into_slow[row] = 1.0
        into_best[row] = 1.0
        for other in range(table.counts.shape[1]):
            if other == stream[row]:
                continue
            slow, fast = 0.0, 0.0
            if place >= 0:
                slow = fade[0] * table.counts[place, other, 0]
                fast = fade[1] * table.counts[place, other, 1]
            into_slow[row] *= slow
            into_best[row] *= at_best(slow, fast, fade[2]) if slow > 0.0 else 0.0


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
