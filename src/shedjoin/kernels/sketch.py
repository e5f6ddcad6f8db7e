"""A count-min sketch with conservative update: how often a key came, in fixed room."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, IntArray

DEPTH = 3
PACES = 2
SALT = np.int64(0x5851F42D4C957F2D)


@kernel
def add_keys(key: IntArray, weight: FloatArray, into_counts: FloatArray) -> None:
    """Count each key with its weights, one per pace; cells grow no further than needed.

    The paces of a cell lie side by side: one cache line for both.
    """
    width = into_counts.size // (DEPTH * PACES)
    cell = np.empty(DEPTH, np.int64)
    for row in range(key.size):
        bits = mixed(key[row] ^ SALT)
        for depth in range(DEPTH):
            cell[depth] = depth * width + ((bits >> (21 * depth)) & (width - 1))
        for pace in range(PACES):
            least = np.inf
            for depth in range(DEPTH):
                least = min(least, into_counts[PACES * cell[depth] + pace])
            least += weight[PACES * row + pace]
            for depth in range(DEPTH):
                at = PACES * cell[depth] + pace
                into_counts[at] = max(into_counts[at], least)
