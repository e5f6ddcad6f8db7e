"""What is known of keys, row by row: counts at two paces, and rates of results."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import lean, step
from shedjoin.kernels.sketch import DEPTH, SALT
from shedjoin.types import Cube, FloatArray, IntArray

FASTER = 10
_DOUBT = 3.0


@step
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


@step
def least(bits: np.int64, pace: int, side: int, counts: Cube) -> float:
    """Read one count of a sketch."""
    width = counts.shape[2] // DEPTH
    found = np.inf
    for depth in range(DEPTH):
        cell = depth * width + ((bits >> (21 * depth)) & (width - 1))
        found = min(found, counts[pace, side, cell])
    return found


@lean
def read_opposite(
    side: IntArray,
    key: IntArray,
    counts: Cube,
    fade: FloatArray,
    into_slow: FloatArray,
    into_best: FloatArray,
) -> None:
    """Count of each row's key on the other stream: at the slow pace, and at best."""
    for row in range(key.size):
        bits = mixed(key[row] ^ SALT)
        slow = fade[0] * least(bits, 0, 1 - side[row], counts)
        fast = fade[1] * least(bits, 1, 1 - side[row], counts)
        into_slow[row] = slow
        into_best[row] = at_best(slow, fast)


@lean
def read_table(
    side: IntArray,
    level: IntArray,
    age_us: IntArray,
    per_us: FloatArray,
    table: Cube,
    into_rate: FloatArray,
) -> None:
    """Read ``table[side, level, age]``, between two ages in proportion."""
    last = table.shape[2] - 1
    for row in range(side.size):
        own = side[row]
        age = min(age_us[row] * per_us[own], float(last))
        before = int(age)
        after = min(before + 1, last)
        here = table[own, level[row], before]
        there = table[own, level[row], after]
        into_rate[row] = here + (age - before) * (there - here)
