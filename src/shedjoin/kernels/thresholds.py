"""Finds the highest score that was evicted since a resident arrived.

The probability that a row of a sample is still stored follows from this score. For each
pool, a *stack* holds only those evicted scores that no later evicted score exceeded. So
along the stack, numbers rise and scores fall. The highest score that was evicted from
some arrival on is the first entry with the number of that arrival or a later one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import kernel
from shedjoin.kernels.matching import COINS_SHIFT, coin
from shedjoin.types import FloatArray, Grid, IntArray, IntGrid


class Stacks(NamedTuple):
    """A stack for each pool, and its height."""

    number: IntGrid
    score: Grid
    height: IntArray


@kernel
def push(pool: int, number: int, score: float, stacks: Stacks) -> None:
    """Note the score of a row that was evicted at the arrival with this number."""
    height = stacks.height[pool]
    while height and stacks.score[pool, height - 1] <= score:
        height -= 1
    stacks.number[pool, height] = number
    stacks.score[pool, height] = score
    stacks.height[pool] = height + 1


@kernel
def highest_since(pool: int, number: int, stacks: Stacks) -> float:
    """Highest score that was evicted at the arrival with this number or a later one."""
    low, high = 0, stacks.height[pool]
    while low < high:
        middle = (low + high) // 2
        if stacks.number[pool, middle] < number:
            low = middle + 1
        else:
            high = middle
    return stacks.score[pool, low] if low < stacks.height[pool] else -np.inf


@kernel
def replay(
    zero: int,
    raised: Grid,
    row: IntArray,
    number: IntArray,
    pool: IntArray,
    stacks: Stacks,
    into_bar: FloatArray,
) -> None:
    """For each match, find the highest score evicted since its resident came.

    Only evictions before the arrival of the match count, because an arrival is matched
    before rows are evicted for it. Matches are given in the order of their arrivals.
    ``raised`` is the array of ``Found``.
    """
    pools, steps = raised.shape
    at = 0
    for step in range(steps):
        for each in range(pools):
            score = raised[each, step]
            if score > -np.inf:
                push(each, zero + step - 1, score, stacks)
        while at < row.size and row[at] == step:
            into_bar[at] = highest_since(pool[at], number[at], stacks)
            at += 1


@kernel
def toss(
    seed: int,
    key: IntArray,
    number: IntArray,
    chance: FloatArray,
    coins: IntArray,
    into_coins: IntArray,
) -> None:
    """Find each arrival's last coin that wins; -1 if none wins, 0 without coins."""
    for row in range(key.size):
        into_coins[row] = -1 if coins[row] > 0 else 0
        for turn in range(1, coins[row] + 1):
            if coin(seed, key[row], number[row], turn) < chance[row]:
                into_coins[row] = (turn << COINS_SHIFT) | coins[row]
                break
