"""Matches of arrivals with monitored rows: all are counted, and a few are drawn.

Rows of a frequent key have so many matches that a list of them would cost more than the
join. So only the number and the importance of all matches are computed. Models that
need single matches learn from the few matches that are drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.index import STRIDE, Index
from shedjoin.kernels.jit import kernel
from shedjoin.kernels.matching import worth
from shedjoin.types import FloatArray, IntArray

UNVALUED = -1
"""Value of ``combine`` if rows have no importance: each match then counts as 1."""
_ANY = np.int64(0x7FFFFFFFFFFFFFFF)


class Sought(NamedTuple):
    """What arrivals look for: rows of their key between two times.

    ``importance`` is the importance of the arrivals. The rows that they look for are
    *ghosts*, and have the slots from 0 on.
    """

    key: IntArray
    low: IntArray
    high: IntArray
    importance: FloatArray


@kernel
def count_matches(
    came: Sought,
    index: Index,
    of_ghost: FloatArray,
    combine: int,
    into_count: IntArray,
    into_worth: FloatArray,
) -> int:
    """Count the matches of each arrival, and sum their importance; return the total."""
    heads, entries, seed = index
    bucket_mask, total = heads.size - 1, 0
    for row in range(came.key.size):
        key, low, high = came.key[row], came.low[row], came.high[row]
        slot, found, value = heads[mixed(key ^ seed) & bucket_mask], 0, 0.0
        while slot >= 0:
            entry = STRIDE * slot
            if entries[entry] == key and low <= entries[entry + 1] <= high:
                found += 1
                if combine != UNVALUED:
                    value += worth(came.importance[row], of_ghost[slot], combine)
            slot = entries[entry + 2]
        into_count[row] = found
        into_worth[row] = value
        total += found
    return total


@kernel
def draw_matches(
    came: Sought, index: Index, step: int, into_row: IntArray, into_slot: IntArray
) -> int:
    """Draw one of every ``step`` matches by a hash; return how many were drawn.

    The arrays need room for the number of matches divided by ``step``, plus one.
    """
    heads, entries, seed = index
    bucket_mask, passed, drawn = heads.size - 1, 0, 0
    chosen, end = (mixed(np.int64(0)) & _ANY) % step, step
    for row in range(came.key.size):
        key, low, high = came.key[row], came.low[row], came.high[row]
        slot = heads[mixed(key ^ seed) & bucket_mask]
        while slot >= 0:
            entry = STRIDE * slot
            if entries[entry] == key and low <= entries[entry + 1] <= high:
                if passed == chosen:
                    into_row[drawn] = row
                    into_slot[drawn] = slot
                    drawn += 1
                passed += 1
                if passed == end:
                    chosen = passed + (mixed(np.int64(passed)) & _ANY) % step
                    end += step
            slot = entries[entry + 2]
    return drawn
