"""Lots: random numbers for rows, which are the same each time they are drawn."""

from __future__ import annotations

import numpy as np

from shedjoin.columns.mixing import mixed_bits
from shedjoin.errors import ParameterError
from shedjoin.types import FloatArray, IntArray

_LARGEST_SEED = 1 << 62
_BITS = (1 << 64) - 1


def check_seed(owner: str, seed: int) -> None:
    """Refuse a value that is not a seed."""
    if type(seed) is not int or not 0 <= seed <= _LARGEST_SEED:
        raise ParameterError(
            f"{owner}(seed={seed!r}) is not a seed.",
            fix=f"pass a whole number from 0 to {_LARGEST_SEED}.",
        )


def lots(seed: int, key: IntArray, number: IntArray) -> FloatArray:
    """Draw a lot in (0, 1) for each row, by its key and its number.

    The number alone is not enough, because all shards use the same numbers.

    >>> import numpy as np
    >>> key = np.array([5, 5, 6])
    >>> one, two, three = lots(0, key, np.array([1, 2, 1]))
    >>> len({one, two, three})
    3
    """
    offset = np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & _BITS)
    by_key = mixed_bits(key.astype(np.uint64) + offset)
    bits = mixed_bits(by_key + number.astype(np.uint64))
    lot: FloatArray = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) / float(
        1 << 53
    )
    return lot
