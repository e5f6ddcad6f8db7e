"""Samples are what the slow simulation draws: pair for pair, weight for weight."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from oracle.samples import Draw, sampled_join
from shedjoin.policies import EqCluster

from .arrivals import (
    WINDOW,
    Capacity,
    assert_same,
    by_shard,
    lot,
    random_stream,
    run,
)
from .policies import FixedSizes, OneByOne, Scheme, size_of

CAPACITIES: list[Capacity] = [1, 7, 40, (4, 4), (20, 3), (0, 9)]


def even(seed: int) -> Draw:
    """Draw rows that are all alike."""
    return Draw(size=lambda _key, _number: 1.0, lot=partial(lot, seed))


def sized(seed: int) -> Draw:
    """Draw rows by the size of their keys."""
    return Draw(size=lambda key, _number: size_of(key), lot=partial(lot, seed))


DRAWN = [(EqCluster, even), (FixedSizes, sized), (OneByOne, sized)]


@pytest.mark.parametrize("zipf", [False, True], ids=["random", "zipf"])
@pytest.mark.parametrize("capacity", CAPACITIES, ids=str)
@pytest.mark.parametrize(("policy", "draw"), DRAWN, ids=["eq", "sizes", "one-by-one"])
def test_equals_oracle(
    policy: Scheme, draw: Callable[[int], Draw], capacity: Capacity, zipf: bool
) -> None:
    for seed in range(2):
        arrivals = random_stream(seed, rows=600, zipf=zipf)
        expected = sampled_join(arrivals, draw(seed), capacity, WINDOW)
        found = run(
            arrivals,
            policy(seed=seed),
            capacity,
            per_batch=(300, 30)[seed],
            restart_every=seed,
        )
        assert_same(found, expected)
        assert expected.most <= (
            sum(capacity) if isinstance(capacity, tuple) else capacity
        )


@pytest.mark.parametrize("shards", [2, 3, 5])
@pytest.mark.parametrize("restart_every", [0, 1])
def test_every_shard_has_weights_of_its_own(shards: int, restart_every: int) -> None:
    arrivals = random_stream(shards, rows=1500)
    found = run(arrivals, FixedSizes(9), 31, shards=shards, restart_every=restart_every)
    assert_same(found, by_shard(arrivals, sized(9), 31, shards))
    shard = {cluster >> 44 for cluster in found.results["_cluster"].to_pylist()}
    assert len(shard) == shards


def test_a_long_stream_in_one_go() -> None:
    """Several blocks of arrivals within one micro-batch, and weights across them."""
    arrivals = random_stream(1, rows=6000, zipf=True)
    expected = sampled_join(arrivals, sized(2), 25, WINDOW)
    assert_same(run(arrivals, FixedSizes(2), 25, per_batch=10_000), expected)
    assert len({one.weight for one in expected.results}) > 100


def test_micro_batches_and_restarts_change_nothing() -> None:
    arrivals = random_stream(4, zipf=True)
    seen = set()
    for per_batch, restart_every in ((350, 0), (100, 1), (17, 3), (3, 2)):
        found = run(
            arrivals,
            FixedSizes(4),
            15,
            per_batch=per_batch,
            restart_every=restart_every,
        ).results
        names = ("left", "right", "_weight", "_cluster")
        columns = [found[name].to_pylist() for name in names]
        seen.add(tuple(sorted(zip(*columns, strict=True))))
    assert len(seen) == 1


def test_another_seed_draws_another_sample() -> None:
    arrivals = random_stream(6)
    one, two = (run(arrivals, EqCluster(seed), 10).results for seed in (0, 1))
    assert not one.equals(two)
    assert one.equals(run(arrivals, EqCluster(0), 10).results)
