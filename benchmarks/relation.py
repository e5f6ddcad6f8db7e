"""What a star join pays for the size of its relation, on one core, without Spark.

``route_us_*`` is the time of a stream row in the map stage with a relation that does
not change: look-up, routing to one of eight shards, packing; half of the rows have a
key that the relation does not have. ``active_us_*`` is what it takes to find its
relation rows in a shard. ``change_ms_*`` is what 1,000 changes, half of them deletions,
add to a micro-batch; ``all_ms_*`` is what it takes to build the relation. ``1k`` and
``1m`` are the rows of the relation, and ``*_ratio`` the second over the first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin.columns.packing import pack
from shedjoin.columns.relating import Related
from shedjoin.columns.routes import Routes
from shedjoin.operators.star.relation import Relation
from shedjoin.spec.relation import (
    ALWAYS_US,
    BEGIN,
    DELETED,
    END,
    LEFT_KEY,
    RIGHT_KEY,
    RelationSpec,
)
from shedjoin.spec.streams import JoinSpec, StreamSpec
from shedjoin.state.workspace import MemoryWorkspace
from shedjoin.types import BoolArray, IntArray

SEED = 3
SHARDS = 8
CHANGES = 1_000
ROUNDS = 9


def run(*, quick: bool) -> Record:
    rows = 5_000 if quick else 200_000
    relations = {"1k": 1_000, "1m": 20_000 if quick else 1_000_000}
    figures: dict[str, float] = {}
    with progress() as display:
        task = display.add_task("joining", total=len(relations))
        for name, size in relations.items():
            for what, value in _figures(size, rows).items():
                figures[f"{what}_{name}"] = value
            display.advance(task)
    for what in ("route_us", "active_us", "change_ms"):
        figures[f"{what}_ratio"] = figures[f"{what}_1m"] / figures[f"{what}_1k"]
    return Record("relation", {"rows": rows, "seed": SEED}, figures)


def _figures(size: int, rows: int) -> dict[str, float]:
    rng = np.random.default_rng(SEED)
    keys = rng.permutation(2 * size)[:size], rng.integers(0, size, size)
    packed = _packed(*keys)
    streams = tuple(
        StreamSpec(name, (("k", "int64"), ("t", "timestamp[us]")), ("k",), "t", 10**8)
        for name in ("left", "right")
    )
    related = RelationSpec((), (("a",), ("b",)), fixed=True)
    spec = JoinSpec(streams, SHARDS, True, (), relation=related)
    arrivals = rng.integers(0, 2 * size, rows)
    at = START_US + np.sort(rng.integers(0, 10**7, rows))
    table = pa.record_batch({"k": arrivals, "t": pa.array(at, pa.timestamp("us"))})
    side = Routes.of(packed, SHARDS).sides[0]
    route = _seconds(lambda: sum(1 for _ in pack([table], 0, spec, side)))
    start = time.perf_counter()
    relation = Relation(MemoryWorkspace(), 0, SEED)
    relation.apply(Related.of(packed))
    built = time.perf_counter() - start
    active = _seconds(lambda: [None for _ in relation.active(0, arrivals, at)])
    changed = []
    for number in range(ROUNDS):
        new = rng.integers(3 * size, 4 * size, CHANGES // 2)
        gone = rng.choice(size, CHANGES // 2, replace=False)
        left = np.concatenate([new, keys[0][gone]])
        right = np.concatenate([new, keys[1][gone]])
        deleted = np.arange(left.size) >= new.size
        changes = Related.of(_packed(left, right, START_US + number, deleted))
        start = time.perf_counter()
        relation.apply(changes)
        relation.ended(START_US + number - 1, START_US + number)
        changed.append(time.perf_counter() - start)
    return {
        "route_us": 1e6 * route / rows,
        "active_us": 1e6 * active / rows,
        "change_ms": 1e3 * median(changed),
        "all_ms": 1e3 * built,
    }


def _packed(
    left: IntArray,
    right: IntArray,
    at: int = -ALWAYS_US,
    deleted: BoolArray | None = None,
) -> pa.RecordBatch:
    gone = np.zeros(left.size, np.bool_) if deleted is None else deleted
    return pa.record_batch(
        {
            LEFT_KEY: left,
            RIGHT_KEY: right,
            BEGIN: np.where(gone, -ALWAYS_US, at),
            END: np.where(gone, at, ALWAYS_US),
            DELETED: gone,
        }
    )


def _seconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)
