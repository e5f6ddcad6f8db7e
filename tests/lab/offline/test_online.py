"""No policy finds more than the optimum, under the same discipline and memory.

In the optimum arrivals meet all that is held whether they are stored or not, and each
other; in a join they do so only under ``probe_then_insert``, and one after the other.
"""

from __future__ import annotations

from functools import cache
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from effort import cases
from shedjoin import (
    Budget,
    MostImportant,
    MostResults,
    Options,
    Within,
    local,
    policies,
)
from shedjoin.columns.placing import shard_of
from shedjoin.lab.offline import StarArchive, star_join, star_optimum
from shedjoin.lab.offline.star_memory import Most
from shedjoin.policies import LoadPolicy, Policy, SamplingPolicy
from shedjoin.policies.goals import Goal
from shedjoin.spec.shedding import Discipline
from shedjoin.types import IntArray

START_US = 1_700_000_000_000_000
SEEDS = cases(20)
TIMES = ("left_time", "right_time")
SHEDDING = [
    kind()
    for kind in policies.POLICIES
    if not issubclass(kind, SamplingPolicy | LoadPolicy)
]


class World:
    """Few keys, several rows at some instants, and micro-batches of whole instants."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        instants = int(rng.integers(3, 50))
        keys = int(rng.integers(1, 9))
        crowd = rng.choice([0.4, 1.0, 2.0])
        self.tables = [self._stream(rng, name, instants, keys, crowd) for name in TIMES]
        before, after = rng.integers(0, 12, 2).tolist()
        self.within = Within(before=f"{before} seconds", after=f"{after} seconds")
        self.cuts = np.sort(rng.integers(0, instants, int(rng.integers(1, 5))))
        self.rows = 2 * int(rng.integers(0, 5))

    def _stream(
        self,
        rng: np.random.Generator,
        name: str,
        instants: int,
        keys: int,
        crowd: float,
    ) -> pa.Table:
        instant = np.repeat(np.arange(instants), rng.poisson(crowd, instants))
        time = pa.array(START_US + 1_000_000 * instant, pa.timestamp("us", "UTC"))
        key = np.minimum(rng.geometric(0.4, instant.size), keys)
        worth = rng.integers(0, 6, instant.size).astype(np.float64)
        columns = {"key": key, name: time, f"{name[:-5]}_worth": worth}
        return pa.table(columns | {"instant": instant})

    def archive(self, shards: int = 1) -> StarArchive:
        left, right = (
            table.append_column("shard", pa.array(shard_of(_keys(table), shards)))
            for table in self.tables
        )
        return StarArchive(
            left,
            right,
            None,
            "key",
            self.within,
            time=TIMES,
            importance=("left_worth", "right_worth"),
            shard="shard",
        )

    def joined(
        self, keep: Policy | Goal, discipline: Discipline, shards: int = 1
    ) -> pa.Table:
        return local.join(
            self._batches(),
            on="key",
            within=self.within,
            time=TIMES,
            options=Options(shards=shards, discipline=discipline),
            budget=Budget(
                rows=shards * self.rows, split=0.5, by_shard=[1 / shards] * shards
            ),
            keep=keep,
        ).results

    def _batches(self) -> list[tuple[pa.Table, pa.Table]]:
        parts = []
        for table in self.tables:
            ends = np.searchsorted(table["instant"].to_numpy(), self.cuts)
            places = np.split(np.arange(table.num_rows), ends)
            parts.append([table.drop_columns("instant").take(some) for some in places])
        return list(zip(*parts, strict=True))


def _keys(table: pa.Table) -> IntArray:
    keys: IntArray = table["key"].to_numpy()
    return keys


def _by_importance(keep: Policy | MostResults) -> MostImportant:
    by = keep if isinstance(keep, Policy) else None
    return MostImportant(("left_worth", "right_worth"), by=by)


def _importance(results: pa.Table) -> float:
    worth = [results[f"{side}_worth"].to_numpy() for side in ("left", "right")]
    return float(np.minimum(*worth).sum())


@cache
def optimum(seed: int, discipline: Discipline) -> tuple[World, int, float]:
    """A world, the most results that there can be, and the most importance."""
    world = World(seed)
    most, best = (
        star_optimum(world.archive(), rows=world.rows, most=goal, discipline=discipline)
        for goal in get_args(Most)[::-1]
    )
    return world, most.size, best.importance


@pytest.mark.parametrize("discipline", get_args(Discipline))
@pytest.mark.parametrize("keep", [MostResults(), *SHEDDING], ids=repr)
def test_no_policy_exceeds_the_optimum(
    keep: Policy | MostResults, discipline: Discipline
) -> None:
    less = 0
    for seed in range(SEEDS):
        world, most, best = optimum(seed, discipline)
        results = world.joined(keep, discipline).num_rows
        assert results <= most, f"seed {seed}"
        valued = world.joined(_by_importance(keep), discipline)
        assert _importance(valued) <= best, f"seed {seed}"
        less += results < most
    assert less > 0  # memory is too small somewhere


@pytest.mark.parametrize("discipline", get_args(Discipline))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nor_do_shards_with_a_memory_each(seed: int, discipline: Discipline) -> None:
    world, archive = World(seed), World(seed).archive(shards=3)
    most, together = (
        star_optimum(some, rows=rows, most="results", discipline=discipline).size
        for some, rows in ((archive, world.rows), (world.archive(), 3 * world.rows))
    )
    results = world.joined(policies.Prob(), discipline, shards=3).num_rows
    assert results <= most <= together <= star_join(archive).size
