"""The exact join on one core, without Spark.

One shard holds a window of residents of both sides; micro-batches of arrivals are
joined with it and become residents, as many old ones expire. ``arrivals_per_s`` counts
the whole step: decode, probe, gather the joined rows, insert, expire.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin.columns.packing import pack
from shedjoin.local.shard import MemoryBlobs
from shedjoin.local.tables import stream_of
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, Outcome
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spec.keys import SIDES
from shedjoin.spec.window import Within
from shedjoin.state.workspace import MemoryWorkspace

SEED = 3
ROUNDS = 12


def run(*, quick: bool) -> Record:
    residents = 50_000 if quick else 1_000_000
    rates = {}
    with progress() as display:
        task = display.add_task("joining", total=2 * ROUNDS)
        for matches in (1, 10):
            rates[matches] = _rate(residents, matches, lambda: display.advance(task))
    figures = {
        "arrivals_per_s": rates[1][0],
        "matches_per_arrival": rates[1][1],
        "arrivals_per_s_10_matches": rates[10][0],
        "matches_per_arrival_10_matches": rates[10][1],
    }
    sizes = {"residents": residents, "batch": residents // 5, "seed": SEED}
    return Record("kernels", sizes, figures)


def _rate(
    residents: int, matches: int, tick: Callable[[], None]
) -> tuple[float, float]:
    """Arrivals per second and matches per arrival with a full window."""
    rng = np.random.default_rng(SEED)
    batch, window_s = residents // 10, 500
    seconds = window_s * batch * 2 // residents
    tables = [
        [
            _table(rng, side, batch, residents // 2 // matches, number, seconds)
            for side in (0, 1)
        ]
        for number in range(2 * 5 + ROUNDS)
    ]
    schemas = (tables[0][0].schema, tables[0][1].schema)
    within = Within(before=f"{window_s} seconds", after=f"{window_s} seconds")
    asked = Asked(on="key", within=within, time=("time0", "time1"))
    spec = join_spec([*map(stream_of, schemas, SIDES)], asked, 1)
    join = open_join(Opening(spec, 0, MemoryBlobs(), None, MemoryWorkspace()))
    spent, found = [], 0
    for number, sides in enumerate(tables):
        blobs = [
            b for side in (0, 1) for _, b in pack(sides[side].to_batches(), side, spec)
        ]
        watermark_ms = (START_US + (number * seconds) * 1_000_000) // 1000 - 1
        start = time.perf_counter()
        outcome = Outcome.of(join.step(blobs, watermark_ms))
        took = time.perf_counter() - start
        join.payload.settle()
        if number >= 10:
            spent.append(took)
            found += outcome.report.matched
            tick()
    arrivals = 2 * batch
    return arrivals / statistics.median(spent), found / (arrivals * len(spent))


def _table(
    rng: np.random.Generator, side: int, rows: int, keys: int, number: int, seconds: int
) -> pa.Table:
    span = seconds * 1_000_000
    when = np.sort(rng.integers(0, span, rows)) + START_US + number * span
    return pa.table(
        {
            "key": rng.integers(0, keys, rows),
            f"time{side}": pa.array(when, pa.timestamp("us", "UTC")),
            f"value{side}": rng.random(rows),
        }
    )
