"""Arrivals of the oracle through the local runner, and the results back."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from oracle.samples import Draw, Result, Sampled, sampled_join
from oracle.shedding import Arrival
from shedjoin import Budget, Options, Within
from shedjoin.columns.placing import shard_of
from shedjoin.kernels.matching import coin
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy
from shedjoin.sampling.lots import lots

START = 1_700_000_000
WINDOW = 40
PER_BATCH = 60
TIMES = ("left_time", "right_time")
NAMES = ("left", "right")
Capacity = int | tuple[int, int]


def random_stream(seed: int, *, rows: int = 700, zipf: bool = False) -> list[Arrival]:
    """Rows of both sides in order of (time, side); some come at the same instant."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, rows // 2, rows))
    side = rng.integers(0, 2, rows)
    key = (rng.zipf(1.5, rows) - 1) % 30 if zipf else rng.integers(0, 12, rows)
    order = np.lexsort((side, time))
    columns = (time[order].tolist(), side[order].tolist(), key[order].tolist())
    return [Arrival(*row) for row in zip(*columns, strict=True)]


def tables(
    arrivals: Sequence[Arrival], per_batch: int
) -> list[tuple[pa.Table, pa.Table]]:
    """Micro-batches of whole instants; ``left`` and ``right`` are row numbers."""
    batches = []
    last = max(row.time for row in arrivals)
    for first in range(0, last + 1, per_batch):
        rows = [
            (number, row)
            for number, row in enumerate(arrivals)
            if first <= row.time < first + per_batch
        ]
        left, right = (_table(rows, side) for side in (0, 1))
        batches.append((left, right))
    return batches


def _table(rows: Sequence[tuple[int, Arrival]], side: int) -> pa.Table:
    mine = [(number, row) for number, row in rows if row.side == side]
    time = [(START + row.time) * 1_000_000 for _, row in mine]
    return pa.table(
        {
            "k": pa.array([row.key for _, row in mine], pa.int64()),
            TIMES[side]: pa.array(time, pa.timestamp("us", "UTC")),
            NAMES[side]: pa.array([number for number, _ in mine], pa.int64()),
        }
    )


def run(
    arrivals: Sequence[Arrival],
    policy: Policy,
    capacity: Capacity,
    *,
    per_batch: int = PER_BATCH,
    restart_every: int = 0,
    shards: int = 1,
    window: int = WINDOW,
    seed: int = 0,
) -> Run:
    """Join arrivals; the window is closed."""
    total = sum(capacity) if isinstance(capacity, tuple) else capacity
    split = capacity[0] / total if isinstance(capacity, tuple) else None
    return join(
        tables(arrivals, per_batch),
        on="k",
        within=Within(before=f"{window} seconds", after=f"{window} seconds"),
        time=TIMES,
        budget=Budget(rows=total, split=split, by_shard=equal_parts(shards)),
        keep=policy,
        restart_every=restart_every,
        options=Options(shards=shards, seed=seed),
    )


def equal_parts(shards: int) -> list[float]:
    """Parts of a budget that shards do not share by what comes."""
    return [1 / shards] * shards


def lot(seed: int, key: int, number: int) -> float:
    """The lot of one row."""
    return float(lots(seed, np.array([key]), np.array([number]))[0])


def toss(seed: int, key: int, number: int, turn: int) -> float:
    """A coin of one row."""
    return float(coin(seed, np.int64(key), np.int64(number), turn))


def watermarks(arrivals: Sequence[Arrival], per_batch: int = PER_BATCH) -> list[float]:
    """What both streams, over all shards, had reached before each micro-batch."""
    reached = []
    for row in arrivals:
        before = row.time - row.time % per_batch
        latest = [
            max(
                (one.time for one in arrivals if one.side == s and one.time < before),
                default=-math.inf,
            )
            for s in (0, 1)
        ]
        reached.append(min(latest))
    return reached


def by_shard(
    arrivals: Sequence[Arrival],
    draw: Draw,
    capacity: int,
    shards: int,
    window: int = WINDOW,
) -> list[Result]:
    """What the oracle gives where every shard has its own rows, numbers and share."""
    shard = shard_of(np.array([row.key for row in arrivals]), shards)
    mine: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(shard.tolist()):
        mine[own].append(number)
    found = []
    reached = watermarks(arrivals)
    for own, numbers in mine.items():
        share = Budget(rows=capacity, by_shard=equal_parts(shards)).share(own, shards)
        part = [arrivals[number] for number in numbers]
        known = [reached[number] for number in numbers]
        for left, right, owner, weight in sampled_join(
            part, draw, share, window, known
        ).results:
            whole = (numbers[left], numbers[right], numbers[owner])
            found.append(Result(*whole, weight))
    return found


def assert_same(
    found: Run, expected: Sampled | list[Result], chance: float = 1.0
) -> None:
    """Pair for pair and weight for weight, and in the same clusters.

    The results of a row that waited are one, unless its coins alone decided.
    """
    results = expected.results if isinstance(expected, Sampled) else expected
    assert results, "nothing is compared"
    table = found.results
    names = ("left", "right", "_weight", "_cluster")
    rows = zip(*(table[name].to_pylist() for name in names), strict=True)
    given = {(left, right): (weight, own) for left, right, weight, own in rows}
    assert len(given) == table.num_rows
    assert set(given) == {(one.left, one.right) for one in results}
    clusters: dict[tuple[int, int], set[int]] = defaultdict(set)
    for one in results:
        weight, own = given[one.left, one.right]
        assert abs(weight / one.weight - 1.0) < 1e-9, one
        alone = chance < 1.0 and one.weight == 1.0 / chance
        clusters[(one.left, one.right) if alone else (one.owner, -1)].add(own)
    assert all(len(own) == 1 for own in clusters.values())
    assert len(set.union(*clusters.values())) == len(clusters)
