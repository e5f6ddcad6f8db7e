"""Hashes of key columns.

The function :func:`mixed` is a bijection. So two different keys that fit into 64 bits
never have the same hash. Only keys of several columns, or of bytes, can collide.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import kernel
from shedjoin.types import ByteArray, IntArray, OffsetArray

_MULTIPLY_1 = np.int64(-0x40A7B892E31B1A47)
_MULTIPLY_2 = np.int64(-0x6B2FB644ECCEEE15)
_GOLDEN = np.int64(-0x61C8864680B583EB)
_LOW_34 = np.int64((1 << 34) - 1)
_LOW_37 = np.int64((1 << 37) - 1)
_LOW_33 = np.int64((1 << 33) - 1)


@kernel
def mixed(value: np.int64) -> np.int64:
    """Spread the bits of one 64-bit integer; a bijection (splitmix64's finaliser)."""
    value = (value ^ ((value >> 30) & _LOW_34)) * _MULTIPLY_1
    value = (value ^ ((value >> 27) & _LOW_37)) * _MULTIPLY_2
    return value ^ ((value >> 31) & _LOW_33)


@kernel
def chain_words(seed: IntArray, words: IntArray) -> IntArray:
    """Extend the hash of a row so far (``seed``) by one more 64-bit column."""
    out = np.empty_like(words)
    for row in range(words.size):
        out[row] = mixed((seed[row] + _GOLDEN) ^ mixed(words[row]))
    return out


@kernel
def chain_bytes(seed: IntArray, offset: OffsetArray, data: ByteArray) -> IntArray:
    """Extend the hash of a row so far (``seed``) by one more column of byte strings."""
    out = np.empty_like(seed)
    for row in range(seed.size):
        start, end = offset[row], offset[row + 1]
        state = mixed(seed[row] + np.int64(end - start) + _GOLDEN)
        word = np.int64(0)
        filled = 0
        for place in range(start, end):
            word = (word << 8) | np.int64(data[place])
            filled += 1
            if filled == 8:  # noqa: PLR2004  (a word is eight bytes)
                state = mixed((state + _GOLDEN) ^ word)
                word = np.int64(0)
                filled = 0
        out[row] = mixed((state + _GOLDEN) ^ word) if filled else state
    return out
