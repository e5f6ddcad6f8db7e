"""Band joins on one core, without Spark.

``nested_pairs_per_s`` counts the comparisons of a blocked nested loop over all pairs.
``sorted_pairs_per_s`` is what finds the same matches in a sorted tier, as if it had
compared all pairs; ``gain`` is the second over the first. ``arrivals_per_s`` is the
whole step of a join of three streams: decode, probe, gather, insert, expire.
``float_range_us`` is what the range around a floating-point value takes,
``wide_range_us`` where eps is as large as the values, ``integer_range_us`` around an
integer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin import Band, local
from shedjoin.columns.bounds import band_bounds
from shedjoin.columns.codes import codes_of
from shedjoin.kernels.ranges import COLUMNS, LEAD, PLACE, TIME, Asked, Pairs, meet
from shedjoin.spec.terms import BandTerm
from shedjoin.types import IntGrid

SEED = 3
SPREAD = 1_000_000_000
EPS = 500
BATCHES = 8
RANGES = 100_000


def run(*, quick: bool) -> Record:
    residents, arrivals = (50_000, 200) if quick else (200_000, 5_000)
    batch = 500 if quick else 20_000
    figures: dict[str, float] = {}
    with progress() as display:
        task = display.add_task("joining", total=4)
        for name, lead in (("nested", TIME), ("sorted", COLUMNS)):
            figures[f"{name}_pairs_per_s"] = _pairs_per_s(residents, arrivals, lead)
            display.advance(task)
        figures["gain"] = figures["sorted_pairs_per_s"] / figures["nested_pairs_per_s"]
        figures |= _range_us()
        display.advance(task)
        figures |= _whole_step(batch)
        display.advance(task)
    sizes = {"residents": residents, "arrivals": arrivals, "batch": batch, "seed": SEED}
    return Record("band", sizes, figures)


def _pairs_per_s(residents: int, arrivals: int, lead: int) -> float:
    """Pairs per second of a band over a tier that is sorted by one column or other."""
    rng = np.random.default_rng(SEED)
    tier = np.zeros((COLUMNS + 1, residents), np.int64)
    tier[TIME], tier[PLACE] = rng.integers(0, 1000, residents), np.arange(residents)
    tier[COLUMNS] = rng.integers(0, SPREAD, residents)
    tier[LEAD] = tier[lead]
    tier = np.ascontiguousarray(tier[:, np.argsort(tier[LEAD], kind="stable")])
    value = rng.integers(0, SPREAD, arrivals)
    times = np.zeros(arrivals, np.int64), np.full(arrivals, 1000)
    band = value - EPS, value + EPS
    first, other = (times, band) if lead == TIME else (band, times)
    asked = Asked(
        np.zeros(arrivals, np.int64),
        first[0],
        first[1],
        np.array([COLUMNS if lead == TIME else TIME]),
        np.array([True]),
        other[0][np.newaxis].copy(),
        other[1][np.newaxis].copy(),
    )
    near = np.sort(tier[COLUMNS])
    until = np.searchsorted(near, value + EPS, side="right")
    matches = int(np.sum(until - np.searchsorted(near, value - EPS)))
    assert _count(asked, tier) == matches
    return arrivals * residents / _fastest(lambda: _count(asked, tier))


def _count(asked: Asked, tier: IntGrid) -> int:
    pairs, total, at, row = Pairs.room(1 << 17), 0, 0, 0
    by_lead = np.lexsort((asked.first, asked.key))
    while at < asked.key.size:
        found, at, row, _ = meet(asked, tier, by_lead, at, row, pairs)
        total += found
    return total


def _fastest(call: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of several calls: others had to wait for something."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def _range_us() -> dict[str, float]:
    """Microseconds of the range around one value, of many at once."""
    values = np.random.default_rng(SEED).random(RANGES)
    floats, integers = codes_of(values), (values * SPREAD).astype(np.int64)
    columns = ("x", "x")
    cases = {
        "float": (BandTerm(columns, 1e-4, "float64"), floats),
        "wide": (BandTerm(columns, 1.0, "float64"), floats),
        "integer": (BandTerm(columns, EPS, "integer"), integers),
    }
    spent = {
        name: _fastest(partial(band_bounds, term, codes))
        for name, (term, codes) in cases.items()
    }
    return {f"{name}_range_us": 1e6 * each / RANGES for name, each in spent.items()}


def _whole_step(batch: int) -> dict[str, float]:
    rng = np.random.default_rng(SEED)
    names = ("a", "b", "c")
    batches = [
        {name: _table(rng, batch, number) for name in names}
        for number in range(BATCHES)
    ]

    def join(some: list[dict[str, pa.Table]]) -> local.Run:
        times = dict.fromkeys(names, "time")
        eps = 1.0 / batch
        return local.multijoin(some, on=Band("x", eps), within="30 seconds", time=times)

    join(batches[:1])  # compiles
    start = time.perf_counter()
    found = join(batches)
    spent = time.perf_counter() - start
    rows = len(names) * batch * BATCHES
    return {
        "arrivals_per_s": rows / spent,
        "matches_per_arrival": found.report.matched / rows,
    }


def _table(rng: np.random.Generator, rows: int, number: int) -> pa.Table:
    span = 10_000_000
    when = np.sort(rng.integers(0, span, rows)) + START_US + number * span
    columns = {"time": pa.array(when, pa.timestamp("us", "UTC")), "x": rng.random(rows)}
    return pa.table(columns | {"id": np.arange(rows)})
