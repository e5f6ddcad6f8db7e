"""Uniform samples: which matches are emitted follows from the coins alone."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from oracle.samples import Draw, sampled_join
from shedjoin import Budget, Within
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Uniform
from shedjoin.policies.samples import ByLot
from shedjoin.types import BoolArray

from .arrivals import (
    START,
    TIMES,
    WINDOW,
    Capacity,
    assert_same,
    by_shard,
    lot,
    random_stream,
    run,
    toss,
)
from .policies import FixedCoins, Scheme

MATCHES = 5
PLENTY = 10**6


def tossed(policy: FixedCoins) -> Draw:
    seed = policy.seed
    return Draw(
        size=lambda _key, _number: 1.0,
        lot=partial(lot, seed),
        coins=policy.count,
        chance=policy.chance,
        toss=partial(toss, seed),
    )


@pytest.mark.parametrize("capacity", [5000, 9, (3, 8)], ids=str)
@pytest.mark.parametrize("count", [1, 4, 50])
def test_equals_oracle(count: int, capacity: Capacity) -> None:
    for seed, chance in enumerate((0.2, 0.7)):
        policy = FixedCoins(count, chance, seed)
        arrivals = random_stream(seed, rows=500, zipf=bool(seed))
        expected = sampled_join(arrivals, tossed(policy), capacity, WINDOW)
        found = run(
            arrivals, policy, capacity, per_batch=(500, 40)[seed], restart_every=seed
        )
        assert_same(found, expected, chance)


def test_equals_oracle_in_shards() -> None:
    policy = FixedCoins(4, 0.4, seed=3)
    arrivals = random_stream(3, rows=900)
    found = run(arrivals, policy, 30, shards=3, restart_every=2)
    assert_same(found, by_shard(arrivals, tossed(policy), 30, 3), 0.4)


@pytest.mark.parametrize("policy", [FixedCoins, Uniform])
def test_another_seed_tosses_other_coins(policy: Scheme) -> None:
    arrivals = random_stream(2)
    chance = {"chance": 0.3} if policy is FixedCoins else {"fraction": 0.3}
    one, two = (
        run(arrivals, policy(**chance, seed=seed), PLENTY).results for seed in (0, 1)
    )
    assert not one.equals(two)


# ------------------------------------------------- every left row has five matches


def five_matches(rows: int) -> list[tuple[pa.Table, pa.Table]]:
    """Left rows with keys of their own, each with five later right rows."""
    rng = np.random.default_rng(8)
    key = np.arange(rows)
    left_s = np.arange(rows, dtype=np.int64)
    ages = np.sort(rng.permuted(np.tile(np.arange(1, 60), (rows, 1)), axis=1)[:, :5])
    position = np.tile(np.arange(MATCHES), rows)
    right_s = (left_s[:, None] + ages).reshape(-1)
    order = np.argsort(right_s, kind="stable")
    left = _table(TIMES[0], left_s, {"k": key})
    names = {"k": np.repeat(key, MATCHES)[order], "position": position[order]}
    right = _table(TIMES[1], right_s[order], names)
    cuts = [0, rows // 3, 2 * rows // 3, rows + 60]
    return [
        (_between(left, TIMES[0], a, b), _between(right, TIMES[1], a, b))
        for a, b in pairwise(cuts)
    ]


def _table(
    name: str,
    seconds: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    rest: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]],
) -> pa.Table:
    time = pa.array((START + seconds) * 1_000_000, pa.timestamp("us", "UTC"))
    return pa.table({**rest, name: time})


def _between(table: pa.Table, name: str, first: int, end: int) -> pa.Table:
    time = table[name].cast(pa.int64()).to_numpy() // 1_000_000 - START
    return table.filter(pa.array((first <= time) & (time < end)))


def emitted(policy: ByLot, rows: int) -> tuple[BoolArray, Run]:
    """Which of the five matches of each left row are emitted."""
    found = join(
        five_matches(rows),
        on="k",
        within=Within(before="60 seconds", after="60 seconds"),
        time=TIMES,
        budget=Budget(rows=PLENTY),
        keep=policy,
    )
    there = np.zeros((rows, MATCHES), bool)
    there[found.results["k"].to_numpy(), found.results["position"].to_numpy()] = True
    assert there.sum() == found.results.num_rows
    return there, found


def test_each_match_has_the_same_chance_and_a_coin_of_its_own() -> None:
    there, found = emitted(FixedCoins(MATCHES, 0.3), 20_000)
    # 20 000 rows: a share has a standard error of 0.0032, a correlation of 0.007.
    assert there.mean(axis=0) == pytest.approx([0.3] * MATCHES, abs=0.01)
    correlation = np.corrcoef(there.T) - np.eye(MATCHES)
    assert np.abs(correlation).max() < 0.02
    assert found.report.weight == pytest.approx(100_000, rel=0.015)
    # Rows without a coin that wins are not stored; all others leave after their last.
    assert found.report.stored[0] / 20_000 == pytest.approx(1 - 0.7**5, abs=0.01)
    assert found.report.spent == found.report.stored[0]


def test_matches_beyond_the_expected_are_never_emitted() -> None:
    there, found = emitted(FixedCoins(3, 0.3), 20_000)
    assert there.mean(axis=0) == pytest.approx([0.3, 0.3, 0.3, 0.0, 0.0], abs=0.01)
    assert not there[:, 3:].any()
    # And the estimate is too low by just those: weights know nothing of them.
    assert found.report.weight / 100_000 == pytest.approx(0.6, abs=0.01)


def test_more_coins_than_matches_cost_memory_alone() -> None:
    there, found = emitted(FixedCoins(8, 0.3), 20_000)
    assert there.mean(axis=0) == pytest.approx([0.3] * MATCHES, abs=0.01)
    correlation = np.corrcoef(there.T) - np.eye(MATCHES)
    assert np.abs(correlation).max() < 0.02
    assert found.report.weight == pytest.approx(100_000, rel=0.015)
    # Rows that wait for a sixth match and later ones wait in vain.
    stored, spent = found.report.stored[0], found.report.spent
    assert 1 - spent / stored == pytest.approx((1 - 0.7**3) / (1 - 0.7**8), abs=0.01)


def test_learned_matches_are_right_once_they_are_known() -> None:
    """The real policy: five coins for left rows, once it has seen them matched."""
    there, _ = emitted(Uniform(0.3), 20_000)
    later = there[5_000:]
    assert later.mean(axis=0) == pytest.approx([0.3] * MATCHES, abs=0.012)
    assert np.abs(np.corrcoef(later.T) - np.eye(MATCHES)).max() < 0.025
    # Before, rows had a single coin: what came after their first match is missing.
    first = there[:50]
    assert first[:, 1:].mean() < 0.1
