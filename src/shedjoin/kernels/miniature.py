"""Finds which sampled rows a join would hold with less or more memory.

Sizes of the memory are numbered as *levels*, from the smallest to the largest. Each row
has one bit for each level, which says whether the row is held with that memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, Grid, IntArray


class Sampled(NamedTuple):
    """Sampled rows: the pool of each, the room that it takes, and its score.

    A sampled row takes the room of all the rows that it represents.
    """

    pool: IntArray
    size: IntArray
    score: FloatArray


@kernel
def settle(
    order: IntArray, rows: Sampled, room: Grid, into_held: IntArray, into_bar: Grid
) -> None:
    """Evict rows from the levels that have no room for them.

    ``order`` gives the rows from the best score to the worst. ``room`` and ``into_bar``
    are by pool and level. The bar is the highest score that was evicted.
    """
    pools, levels = room.shape
    used = np.zeros((pools, levels))
    into_bar[:] = -np.inf
    for place in range(order.size):
        row = order[place]
        pool, held = rows.pool[row], into_held[row]
        for level in range(levels):
            if held >> level & 1:
                used[pool, level] += rows.size[row]
                if used[pool, level] > room[pool, level]:
                    into_held[row] &= ~(1 << level)
                    bar = into_bar[pool, level]
                    into_bar[pool, level] = max(bar, rows.score[row])


@kernel
def settle_new(
    pool: IntArray, score: FloatArray, bar: Grid, into_held: IntArray
) -> None:
    """Set the levels at which new rows are held: their bar is not above the score."""
    levels = bar.shape[1]
    for row in range(pool.size):
        held = 0
        for level in range(levels):
            held |= int(score[row] >= bar[pool[row], level]) << level
        into_held[row] = held


@kernel
def count_held(
    slot: IntArray, held: IntArray, weight: IntArray, into_counts: FloatArray
) -> None:
    """Count matches by the levels that hold their rows, and last, all matches.

    A match is counted once for each row that its sampled row represents.
    """
    levels, times = into_counts.size - 1, np.zeros(held.size, np.int64)
    for match in range(slot.size):
        times[slot[match]] += 1
    for row in range(held.size):
        if times[row] > 0:
            counted = times[row] * weight[row]
            for level in range(levels):
                into_counts[level] += counted * (held[row] >> level & 1)
            into_counts[levels] += counted
