"""The highest score that left since a row came, against a list of all that left."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.kernels.matching import COINS_LEFT, COINS_SHIFT
from shedjoin.kernels.thresholds import Stacks, highest_since, push, replay, toss

from .plain import plain_coin


def empty_stacks(pools: int, room: int) -> Stacks:
    return Stacks(
        np.zeros((pools, room), np.int64),
        np.zeros((pools, room)),
        np.zeros(pools, np.int64),
    )


def highest(left: list[tuple[int, float]], number: int) -> float:
    return max((score for by, score in left if by >= number), default=-math.inf)


@pytest.mark.parametrize("scores", [3, 1000])
def test_the_highest_since_any_number(scores: int, rng: np.random.Generator) -> None:
    pools, stacks = 3, empty_stacks(3, 200)
    left: list[list[tuple[int, float]]] = [[] for _ in range(pools)]
    number = 0
    for _ in range(150):
        number += int(rng.integers(3))
        pool, score = int(rng.integers(pools)), float(rng.integers(scores))
        push(pool, number, score, stacks)
        left[pool].append((number, score))
        for each in range(pools):
            since = int(rng.integers(-1, number + 3))
            assert highest_since(each, since, stacks) == highest(left[each], since)


def test_a_stack_holds_no_more_than_it_must() -> None:
    stacks = empty_stacks(1, 3)
    for number, score in enumerate([1.0, 2.0, 2.0, 3.0, 1.0, 0.0, 0.5, 0.5]):
        push(0, number, score, stacks)
    assert int(stacks.height[0]) == 3
    assert stacks.score[0].tolist() == [3.0, 1.0, 0.5]
    assert stacks.number[0].tolist() == [3, 4, 7]


def test_matches_see_what_left_before_their_arrival(rng: np.random.Generator) -> None:
    """Step n of what is raised left because of arrival n - 1 of the block."""
    for _ in range(10):
        pools, steps, zero = 2, 12, 40
        raised = rng.integers(10, size=(pools, steps)).astype(float)
        raised[rng.random(raised.shape) < 0.4] = -math.inf
        stacks = empty_stacks(pools, 60)
        left: list[list[tuple[int, float]]] = [[(30, 7.0), (35, 3.0)] for _ in range(2)]
        for pool in range(pools):
            for by, score in left[pool]:
                push(pool, by, score, stacks)
        row = np.sort(rng.integers(steps - 1, size=30))
        number = rng.integers(28, zero + row)
        pool_of = rng.integers(pools, size=30)
        bar = np.zeros(30)
        replay(zero, raised, row, number, pool_of, stacks, bar)
        for each in range(30):
            past = left[pool_of[each]] + [
                (zero + step - 1, float(raised[pool_of[each], step]))
                for step in range(int(row[each]) + 1)
            ]
            assert bar[each] == highest(past, int(number[each]))


def test_the_last_coin_that_wins_is_found(rng: np.random.Generator) -> None:
    rows, seed = 200, 9
    key, number = rng.integers(-5, 5, rows), rng.integers(1000, size=rows)
    coins, chance = rng.integers(6, size=rows), rng.choice([0.0, 0.2, 0.7, 1.0], rows)
    found = np.full(rows, 77)
    toss(seed, key, number, chance, coins, found)
    kinds = set()
    for row in range(rows):
        winning = [
            turn
            for turn in range(1, int(coins[row]) + 1)
            if plain_coin(seed, int(key[row]), int(number[row]), turn) < chance[row]
        ]
        value = int(found[row])
        if not coins[row]:
            assert value == 0
        elif not winning:
            assert value == -1
        else:
            assert (value >> COINS_SHIFT, value & COINS_LEFT) == (
                winning[0],
                int(coins[row]),
            )
        kinds.add((bool(coins[row]), bool(winning)))
    assert len(kinds) == 3
