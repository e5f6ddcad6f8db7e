"""Coins of residents: which matches they let through, and when a row has none left."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.kernels.matching import COINS_SHIFT, EMIT, coin, is_spent, meet
from shedjoin.kernels.round import NO_LOOKS, SPENT
from shedjoin.kernels.slots import DIRTY_BIT

from .plain import emitted, make_found, make_row, make_rules, plain_coin
from .tables import KEEP, KEYS, crowded, empty_table, moved_in, partners, rows_of


def test_coins_are_always_the_same(rng: np.random.Generator) -> None:
    for seed, key, number, other in rng.integers(-(2**62), 2**62, (200, 4)):
        found = coin(int(seed), key, number, int(other))
        assert found == plain_coin(int(seed), int(key), int(number), int(other))
        assert 0.0 <= found < 1.0


@pytest.mark.parametrize("part", range(4))
def test_coins_are_uniform_in_each_of_their_parts(part: int) -> None:
    found = np.zeros(2000)
    for each in range(found.size):
        seed, key, number, other = (each if part == at else 5 for at in range(4))
        found[each] = coin(seed, np.int64(key), np.int64(number), other)
    found.sort()
    steps = np.arange(found.size + 1) / found.size
    distance = max(np.abs(found - steps[1:]).max(), np.abs(found - steps[:-1]).max())
    assert distance < 1.95 / math.sqrt(found.size)  # Kolmogorov: one in a thousand


@pytest.mark.parametrize("streams", [2, 3])
def test_thinned_matches_toss_a_coin_per_pair(
    streams: int, rng: np.random.Generator
) -> None:
    rules = make_rules(KEEP[:streams], thins=1, weighs=1)
    for number in range(20, 40):
        table, out = crowded(streams, rng), make_found(streams, 20, weighs=1)
        table.score[:] = np.arange(table.score.size)
        row = make_row(0, KEYS[0], 8, number=number)
        some = partners(table, 0, KEYS[0], 8, number)
        lucky = [
            each
            for each in some
            if plain_coin(11, each.key, each.number, ~number) < 0.5
        ]
        assert meet(row, number, EMIT, rules, NO_LOOKS, table, out) == len(some)
        assert emitted(out) == [(0, 100 + one.number, one.number) for one in lucky]
        marks = sorted(out.marks[: len(lucky)].tolist())
        assert marks == sorted((float(one.slot), 0.5) for one in lucky)


@pytest.mark.parametrize("coins", [1, 3, 8])
def test_a_row_leaves_with_its_last_coin_that_wins(coins: int) -> None:
    rules, spent = make_rules((50, 20), tosses=1, thins=1), 0
    for key in range(20):
        wins = {
            turn: plain_coin(11, key, 0, turn) < 0.4 for turn in range(1, coins + 1)
        }
        last = min((turn for turn in wins if wins[turn]), default=0)
        if not last:
            continue
        table, out = empty_table(2, 2), make_found(2, coins)
        slot = moved_in(table, 1, key, 10).slot
        table.details[slot]["coins"] = (last << COINS_SHIFT) | coins
        table.details[slot]["chance"] = 0.4
        for turn in range(coins, 0, -1):
            table.meta[slot] &= ~DIRTY_BIT
            row = make_row(0, key, 17, number=9, at=turn)
            assert meet(row, 9, EMIT, rules, NO_LOOKS, table, out) == (turn >= last)
            assert bool(int(table.meta[slot]) & DIRTY_BIT) == (turn >= last)
        assert [row for row, _, _ in emitted(out)] == [t for t in wins if wins[t]]
        assert not rows_of(table)
        assert out.tally[SPENT].tolist() == [0, 1]
        assert float(out.sums[0]["life"]) == pytest.approx(7e-6)
        assert float(out.sums[0]["life_squared"]) == pytest.approx(49e-12)
        spent += 1
    assert spent > 3


def test_a_row_without_coins_is_never_spent() -> None:
    table = empty_table(1, 2)
    slot = moved_in(table, 0, 5, 5).slot
    assert not is_spent(slot, table)
    assert int(table.details[slot]["coins"]) == 0
