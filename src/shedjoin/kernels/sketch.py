"""A count-min sketch with conservative update: how often a key came, in fixed room."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, IntArray

DEPTH = 3
SALT = np.int64(0x5851F42D4C957F2D)


@kernel
def add_keys(key: IntArray, weight: FloatArray, into_counts: FloatArray) -> None:
    """Count each key with its weight; cells grow no further than they must."""
    width = into_counts.size // DEPTH
    cell = np.empty(DEPTH, np.int64)
    for row in range(key.size):
        bits = mixed(key[row] ^ SALT)
        least = np.inf
        for depth in range(DEPTH):
            cell[depth] = depth * width + ((bits >> (21 * depth)) & (width - 1))
            least = min(least, into_counts[cell[depth]])
        for depth in range(DEPTH):
            into_counts[cell[depth]] = max(
                into_counts[cell[depth]], least + weight[row]
            )
