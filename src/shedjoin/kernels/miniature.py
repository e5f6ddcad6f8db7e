"""Which sampled rows a join would hold with less or more memory.

Memories are levels, from the smallest to the largest. Of each row, one bit for every
level says whether it is held there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, Grid, IntArray


class Sampled(NamedTuple):
    """Sampled rows: the pool that each takes room in, how much of it, and its score.

    It takes room for all rows that it stands for.
    """

    pool: IntArray
    size: IntArray
    score: FloatArray


@kernel
def settle(
    order: IntArray, rows: Sampled, room: Grid, into_held: IntArray, into_bar: Grid
) -> None:
    """Let rows go for which levels of memory have no room.

    Rows are given in the order of their worth, the best first. ``room``, and the score
    that was needed for it, the bar, are by pool and level.
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
    """Tell the levels at which new rows are worth at least the bar."""
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
    """Count matches of rows at the levels where they are held, and all of them last.

    Each counts for as many rows as the sampled one stands for.
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
