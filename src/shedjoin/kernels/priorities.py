"""Priorities of rows, read from tables of rates.

The priority of a row is the greatest mean of its results per second, from its age to
any later age.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.types import Cube, FloatArray, IntArray

_MANTISSA, _BIAS = 52, 1023
_HALF_OCTAVE = int(np.sqrt(np.array([2.0])).view(np.int64)[0]) & ((1 << _MANTISSA) - 1)
"""An octave is the range from one power of two to the next. A floating-point number has
its biased exponent in the bits above its mantissa. In the upper half of an octave, the
mantissa is at least this value."""
FINER = 8
"""Level of a count of one half. Lower counts have lower levels."""


class Rates(NamedTuple):
    """Results per second by stream, level and age.

    ``per_us`` is the number of age buckets in a microsecond, by stream. ``typical`` has
    the typical count of each level.
    """

    table: Cube
    per_us: FloatArray
    typical: FloatArray


@inline_kernel
def rate_at(age: float, own: int, level: int, table: Cube) -> float:
    """Read ``table[own, level, age]``, interpolated between ages."""
    last = table.shape[2] - 1
    age = min(age, float(last))
    before = int(age)
    after = min(before + 1, last)
    here, there = table[own, level, before], table[own, level, after]
    return float(here + (age - before) * (there - here))


@inline_kernel
def level_at(bits: int, levels: int) -> int:
    """Level of a decayed count, in half octaves; 0 for the smallest.

    ``bits`` are the bits of the count as a floating-point number. Its exponent gives
    the octave, so no logarithm is needed.
    """
    octave = (bits >> _MANTISSA) - _BIAS
    upper = (bits & ((1 << _MANTISSA) - 1)) >= _HALF_OCTAVE
    return int(min(max(2 * octave + 2 + FINER + upper, 0), levels - 1))


@kernel_no_refcount
def read_levels(bits: IntArray, levels: int, into: IntArray) -> None:
    """Levels of decayed counts, which are given by their bits."""
    for row in range(bits.size):
        into[row] = level_at(bits[row], levels)


@inline_kernel
def times_typical(slow: float, best: float, level: int, typical: FloatArray) -> float:
    """How often a key comes, relative to what is typical of its level.

    The lowest level has no typical count. There, the best estimate of the count is
    compared with the slow count.
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
    """The values of :func:`times_typical` for many keys."""
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
    """Priority of each row, by its age and the counts of its key.

    The level follows from the slow count, because this count does not jump. Within a
    level, the priority is proportional to the best estimate of the count. ``slow_bits``
    are the bits of the slow counts.
    """
    table = rates.table
    for row in range(stream.size):
        own = stream[row]
        level = level_at(slow_bits[row], table.shape[1])
        times = times_typical(slow[row], best[row], level, rates.typical)
        age = age_us[row] * rates.per_us[own]
        into[row] = times * rate_at(age, own, level, table)
