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


class Rates(NamedTuple):
    """Results per second by stream, level and age; ages of a microsecond, by stream."""

    table: Cube
    per_us: FloatArray


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
    """Half octaves of a decayed count, of which these are the bits; 0 below a half.

    The exponent tells octaves, so there is no logarithm and nothing to guess.
    """
    octave = (bits >> _MANTISSA) - _BIAS
    upper = (bits & ((1 << _MANTISSA) - 1)) >= _HALF_OCTAVE
    return int(min(max(2 * octave + 2 + upper, 0), levels - 1))


@kernel_no_refcount
def read_levels(bits: IntArray, levels: int, into: IntArray) -> None:
    """Levels of decayed counts, of which these are the bits."""
    for row in range(bits.size):
        into[row] = level_at(bits[row], levels)


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

    Levels go by the slow pace, which does not jump; what is new comes on top. The bits
    are those of the slow counts.
    """
    table = rates.table
    for row in range(stream.size):
        own, count = stream[row], slow[row]
        level = level_at(slow_bits[row], table.shape[1])
        news = best[row] / count if count > 0.0 else 1.0
        age = age_us[row] * rates.per_us[own]
        into[row] = news * rate_at(age, own, level, table)
