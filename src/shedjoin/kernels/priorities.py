"""Priorities of rows, read from tables of rates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.types import Cube, FloatArray, IntArray

_MANTISSA, _BIAS = 52, 1023
_HALF_OCTAVE = int(np.sqrt(np.array([2.0])).view(np.int64)[0]) & ((1 << _MANTISSA) - 1)
"""Bits of a real number: the exponent, with its bias, is above those of the mantissa,
which here is that of a half octave."""
FINER = 8
"""Levels of counts below a half, but for the least of all."""


class Rates(NamedTuple):
    """Results per second by stream, level and age.

    ``per_us`` are ages of a microsecond, by stream; ``typical`` is the count that each
    level stands for.
    """

    table: Cube
    per_us: FloatArray
    typical: FloatArray


@inline_kernel
def rate_at(age: float, own: int, level: int, table: Cube) -> float:
    """Read ``table[own, level, age]``, between two ages in proportion."""
    last = table.shape[2] - 1
    age = min(age, float(last))
    before = int(age)
    after = min(before + 1, last)
    here, there = table[own, level, before], table[own, level, after]
    return float(here + (age - before) * (there - here))


@inline_kernel
def level_at(bits: int, levels: int) -> int:
    """Half octaves of a decayed count, of which these are the bits; 0 below 1/32.

    The exponent tells octaves, so there is no logarithm and nothing to guess.
    """
    octave = (bits >> _MANTISSA) - _BIAS
    upper = (bits & ((1 << _MANTISSA) - 1)) >= _HALF_OCTAVE
    return int(min(max(2 * octave + 2 + FINER + upper, 0), levels - 1))


@kernel_no_refcount
def read_levels(bits: IntArray, levels: int, into: IntArray) -> None:
    """Levels of decayed counts, of which these are the bits."""
    for row in range(bits.size):
        into[row] = level_at(bits[row], levels)


@inline_kernel
def times_typical(slow: float, best: float, level: int, typical: FloatArray) -> float:
    """How many times as often as is typical of its level a key comes.

    Below the least level, counts say only how they change.
    """
    if level > 0:
        return float(best / typical[level])
    return float(best / slow) if slow > 0.0 else 1.0


@kernel_no_refcount
def read_times(
    slow: FloatArray,
    best: FloatArray,
    level: IntArray,
    typical: FloatArray,
    into: FloatArray,
) -> None:
    """As :func:`times_typical`, for many keys."""
    for row in range(slow.size):
        into[row] = times_typical(slow[row], best[row], level[row], typical)


@kernel_no_refcount
def read_priorities(
    stream: IntArray,
    slow: FloatArray,
    best: FloatArray,
    slow_bits: IntArray,
    age_us: IntArray,
    rates: Rates,
    into: FloatArray,
) -> None:
    """Priority of each row by its age and its key's counts: at the slow pace, and best.

    Levels go by the slow pace, which does not jump. Between levels the rate follows the
    count at best. The bits are those of the slow counts.
    """
    table = rates.table
    for row in range(stream.size):
        own = stream[row]
        level = level_at(slow_bits[row], table.shape[1])
        times = times_typical(slow[row], best[row], level, rates.typical)
        age = age_us[row] * rates.per_us[own]
        into[row] = times * rate_at(age, own, level, table)
