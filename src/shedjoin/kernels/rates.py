"""Reads what is known of the key of each row: counts at two paces, and rates.

A count at the slow pace fades by half in one half-life. At the fast pace, it fades ten
times as fast. The *steady* count of a key is what its slow count becomes in the end, if
the key goes on coming at the same rate.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.key_table import KeyTable, find_key
from shedjoin.types import Cube, FloatArray, Grid, IntArray

FASTER = 10
_DOUBT = 3.0
_STEPS = 12
SHORTEST = 1.0 / 64.0
"""It is assumed that a key has come for at least this many half-lives: for a shorter
time, a single arrival would decide the estimate."""
_YOUNGEST = float(np.exp2(-SHORTEST))


@inline_kernel
def begun(share: float) -> float:
    """Find ``2^-t`` for a key that began to come t half-lives ago, and comes evenly.

    ``share`` is the fast count of the key divided by its slow count. With ``x = 2^-t``,
    the slow count has reached ``1 - x`` of its steady value. The fast count has reached
    ``1 - x^10`` of its own steady value, which is a tenth of that of the slow count. So
    the ratio of both counts is ``(1 + x + ... + x^9) / 10``. Newton's method finds x
    from this ratio. The steps of this method come from above and do not overshoot.
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
    """Best estimate of the steady count of a key, from its slow and its fast count.

    ``faded`` is ``2^-t`` if counting began t half-lives ago. Counts have then reached
    only a part of their steady values. The estimate follows from the slow count, unless
    the fast count differs from it by more than chance allows. What chance allows
    follows from the counts themselves.

    If the fast count is higher, the key has become more frequent. One standard
    deviation is then subtracted, and the two counts suggest when the key began to come.
    If the fast count is lower, it is assumed that the key becomes still less frequent:
    when the fall is certain, the fast count still contains many earlier arrivals.
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
    """The value of :func:`begun`, but at least ``faded``, and at most ``_YOUNGEST``.

    So a key cannot have begun before counting began, or less than ``SHORTEST`` ago.
    """
    return max(faded, min(begun(share), _YOUNGEST))


@kernel_no_refcount
def begun_at(share: FloatArray, faded: float, into: FloatArray) -> None:
    """The values of :func:`begun_since` for many keys."""
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
    """Slow counts and best estimates of each row's key on the other streams.

    The counts of several streams are multiplied. ``fade`` has three numbers. The first
    two turn stored counts into present counts, at the slow and at the fast pace. The
    third is the slow count that an arrival now has if it came when counting began.
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
    """Read ``table[stream, level, age]``, interpolated between ages."""
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
    """Add the time from one age to another to the age buckets in between, by level.

    Ages are in units of a bucket. ``into_time`` is by level and bucket.
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
    """For each age, find the greatest mean from this age to any later age, row by row.

    For the age i, this is ``max over j > i of (total[j] - total[i]) / (j - i)``.
    """
    rows, ages = into_best.shape
    for row in range(rows):
        for age in range(ages):
            best = -np.inf
            for later in range(age + 1, ages + 1):
                mean = (total[row, later] - total[row, age]) / (later - age)
                best = max(best, mean)
            into_best[row, age] = best
