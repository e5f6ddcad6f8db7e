"""A count-min sketch with conservative update: how often a key came, in fixed room."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, IntArray

DEPTH = 3
_SALT = np.int64(0x5851F42D4C957F2D)


@kernel
def add_keys(key: IntArray, weight: FloatArray, into_counts: FloatArray) -> None:
    """Count each key with its weight; cells grow no further than they must."""
    width = into_counts.size // DEPTH
    cell = np.empty(DEPTH, np.int64)
    for row in range(key.size):
        bits = mixed(key[row] ^ _SALT)
        least = np.inf
        for depth in range(DEPTH):
            cell[depth] = depth * width + ((bits >> (21 * depth)) & (width - 1))
            least = min(least, into_counts[cell[depth]])
        for depth in range(DEPTH):
            into_counts[cell[depth]] = max(
                into_counts[cell[depth]], least + weight[row]
            )


@kernel
def read_keys(key: IntArray, counts: FloatArray) -> FloatArray:
    """Read the count of each key; never too low."""
    width = counts.size // DEPTH
    out = np.empty(key.size)
    for row in range(key.size):
        bits = mixed(key[row] ^ _SALT)
        least = np.inf
        for depth in range(DEPTH):
            cell = depth * width + ((bits >> (21 * depth)) & (width - 1))
            least = min(least, counts[cell])
        out[row] = least
    return out
