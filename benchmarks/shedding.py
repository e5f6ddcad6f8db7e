"""What shedding costs: one core, no Spark.

The operator sheds at a budget of a tenth of the window, against the operator without a
budget over a window of a tenth, so that residents and results per arrival are about the
same. Contestants take turns, micro-batch by micro-batch. Time counts the whole step:
decode, order, probe, gather the joined rows, insert, shed, expire.

``static_ratio`` is the time per arrival of a policy that scores once (the dearest of
Fifo, Rand and Greedy) over that of the exact join, ``dynamic_ratio`` that of one that
recomputes (the dearest of Prob, Age and Expected, with the default recomputation), both
at the middle size. ``growth_ratio`` is how much more the dearer kind grows from the
smallest to the largest number of residents than the exact join does.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin.columns.arrivals import Blob
from shedjoin.columns.packing import pack
from shedjoin.local.shard import MemoryBlobs
from shedjoin.local.tables import stream_of
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Join, Opening, Outcome
from shedjoin.policies import Age, Expected, Fifo, Greedy, Policy, Prob, Rand
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spec.budget import Budget
from shedjoin.spec.keys import SIDES
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Within
from shedjoin.state.workspace import MemoryWorkspace

SEED = 5
ROUNDS = 9
WINDOW_S = 1000
PART = 10
STATIC: tuple[Policy, ...] = (Fifo(), Rand(), Greedy())
DYNAMIC: tuple[Policy, ...] = (Prob(), Age(), Expected())


@dataclass
class Contestant:
    """One operator with its times and results per arrival."""

    name: str
    spec: JoinSpec
    join: Join
    seconds: list[float] = field(default_factory=list)
    matches: int = 0

    def run(self, blobs: list[Blob], watermark_ms: int) -> tuple[float, Outcome]:
        start = time.perf_counter()
        outcome = Outcome.of(self.join.step(blobs, watermark_ms))
        took = time.perf_counter() - start
        self.join.payload.settle()
        return took, outcome


def run(*, quick: bool) -> Record:
    sizes = (2_000, 20_000) if quick else (10_000, 100_000, 1_000_000)
    table: dict[str, dict[int, float]] = {}
    with progress() as display:
        task = display.add_task("shedding", total=len(sizes))
        for residents in sizes:
            for name, cost in _costs(residents).items():
                table.setdefault(name, {})[residents] = cost
            display.advance(task)
    middle = sizes[len(sizes) // 2]
    names = [[type(policy).__name__ for policy in kind] for kind in (STATIC, DYNAMIC)]
    ratio = {
        name: {size: cost / table["exact"][size] for size, cost in costs.items()}
        for name, costs in table.items()
    }
    dearest = [max(kind, key=lambda name: ratio[name][middle]) for kind in names]
    figures = {
        "static_ratio": ratio[dearest[0]][middle],
        "dynamic_ratio": ratio[dearest[1]][middle],
        "growth_ratio": max(
            ratio[name][sizes[-1]] / ratio[name][sizes[0]] for name in dearest
        ),
    }
    figures |= {
        f"{name}_ns_{size}": cost * 1e9
        for name, costs in table.items()
        for size, cost in costs.items()
    }
    facts = {"residents": list(sizes), "budget": f"1/{PART}", "seed": SEED}
    return Record("shedding", facts, figures, {"ratios": ratio})


def _costs(residents: int) -> dict[str, float]:
    """Seconds per arrival of each contestant with so many residents."""
    rng = np.random.default_rng(SEED)
    batch = residents // 4
    seconds = WINDOW_S * 2 * batch / (PART * residents)
    contestants = _contestants(residents, rng, batch, seconds)
    warm = 4 * 3
    for number in range(warm + ROUNDS):
        tables = [
            _table(rng, side, batch, residents // 2, number, seconds) for side in (0, 1)
        ]
        exact = contestants[0].spec
        blobs = [
            blob
            for side in (0, 1)
            for _, blob in pack(tables[side].to_batches(), side, exact)
        ]
        watermark_ms = int(START_US + number * seconds * 1_000_000) // 1000 - 1
        for contestant in contestants:
            took, outcome = contestant.run(blobs, watermark_ms)
            if number >= warm:
                contestant.seconds.append(took)
                contestant.matches += outcome.report.matched
    exact_matches = contestants[0].matches
    for contestant in contestants:
        share = contestant.matches / exact_matches
        assert 0.7 < share < 1.5, f"{contestant.name}: {share} of the exact join's work"
    return {
        one.name: statistics.median(one.seconds) / (2 * batch) for one in contestants
    }


def _contestants(
    residents: int, rng: np.random.Generator, batch: int, seconds: float
) -> list[Contestant]:
    tables = [_table(rng, side, batch, residents // 2, 0, seconds) for side in (0, 1)]
    short = _spec(tables, WINDOW_S // PART)
    found = [Contestant("exact", short, _join(short))]
    for policy in STATIC + DYNAMIC:
        shedding = Shedding(Budget(rows=residents), policy)
        spec = replace(_spec(tables, WINDOW_S), shedding=shedding)
        found.append(Contestant(type(policy).__name__, spec, _join(spec)))
    return found


def _join(spec: JoinSpec) -> Join:
    return open_join(Opening(spec, 0, MemoryBlobs(), None, MemoryWorkspace()))


def _spec(tables: list[pa.Table], window_s: int) -> JoinSpec:
    schemas = (tables[0].schema, tables[1].schema)
    within = Within(before=f"{window_s} seconds", after=f"{window_s} seconds")
    asked = Asked(on="key", within=within, time=("time0", "time1"))
    return join_spec([*map(stream_of, schemas, SIDES)], asked, 1)


def _table(
    rng: np.random.Generator,
    side: int,
    rows: int,
    keys: int,
    number: int,
    seconds: float,
) -> pa.Table:
    span = int(seconds * 1_000_000)
    when = np.sort(rng.integers(0, span, rows)) + START_US + number * span
    return pa.table(
        {
            "key": rng.integers(0, keys, rows),
            f"time{side}": pa.array(when, pa.timestamp("us", "UTC")),
            f"value{side}": rng.random(rows),
        }
    )
