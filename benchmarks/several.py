"""Memory budgets of joins of several streams: what is found in a part of the memory.

500 keys follow Zipf's law with exponent 0.7. ``band`` joins by a value that lies around
a key, ``smooth`` by one that is spread as the logarithm of a normal one, so that there
are no keys behind it. ``found_*`` is the part of the exact results that ``MostResults``
finds in a sixth of the memory that all rows of the window would take, ``fifo_*`` what
``Fifo`` finds, and ``told_*`` what the report of the first says of its recall; means
over seeds. ``rows_per_s_*`` are arrivals of all streams by wall clock, of a join of
three streams by keys that are all alike, with room for so many rows.
"""

from __future__ import annotations

import time
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin import Band, Budget, MostResults, local, policies
from shedjoin.types import FloatArray

ZIPF: FloatArray = 1 / np.arange(1.0, 501.0) ** 0.7
"""How often keys come."""
BATCH_S, BATCHES, WINDOW_S = 10, 10, 20
PART = 1 / 6
ROOMS = (1_000, 20_000)


class Case(NamedTuple):
    """How many streams are joined by what, and how many rows a stream has at once."""

    streams: int
    on: Any
    rows: int = 300
    smooth: bool = False


CASES = {
    "3_key": Case(3, "key"),
    "4_key": Case(4, "key", rows=150),
    "2_band": Case(2, Band("x", 0.4)),
    "3_band": Case(3, Band("x", 0.4), rows=200),
    "3_smooth": Case(3, Band("x", 2.0), rows=200, smooth=True),
}


def run(*, quick: bool) -> Record:
    seeds = range(1) if quick else range(3)
    rooms = ROOMS[:1] if quick else ROOMS
    figures: dict[str, float] = {}
    with progress() as display:
        task = display.add_task("joining", total=len(CASES) + len(rooms))
        for name, case in CASES.items():
            runs = [_found(case, seed) for seed in seeds]
            for what in runs[0]:
                figures[f"{what}_{name}"] = mean(found[what] for found in runs)
            display.advance(task)
        for room in rooms:
            figures[f"rows_per_s_{room}"] = _speed(room)
            display.advance(task)
    sizes = {
        "seed": seeds[0],
        "seeds": len(seeds),
        "micro_batches": BATCHES,
        "part": PART,
    }
    return Record("several", sizes, figures)


def _found(case: Case, seed: int) -> dict[str, float]:
    batches = _batches(case, seed)
    exact = _joined(batches, case.on).report.matched
    window = case.streams * case.rows * WINDOW_S // BATCH_S
    room = Budget(rows=int(PART * window))
    most = _joined(batches, case.on, budget=room, keep=MostResults()).report
    oldest = _joined(batches, case.on, budget=room, keep=policies.Fifo()).report
    return {
        "found": most.matched / exact,
        "told": float("nan") if most.recall is None else most.recall,
        "fifo": oldest.matched / exact,
    }


def _speed(room: int) -> float:
    """Arrivals a second where a sixth of the window has room; the first run compiles.

    There are as many keys as rows of a micro-batch, all alike: frequent ones would have
    endless results.
    """
    rows = int(room / PART) * BATCH_S // (3 * WINDOW_S)
    batches = _batches(Case(3, "key", rows=rows), 0, np.ones(rows))
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        _joined(batches, "key", budget=Budget(rows=room), keep=MostResults())
        seconds.append(time.perf_counter() - started)
    return 3 * rows * BATCHES / seconds[-1]


def _joined(
    batches: list[dict[str, pa.Table]],
    on: Any,  # noqa: ANN401  (all that a join takes)
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    return local.multijoin(
        batches,
        on=on,
        within=f"{WINDOW_S} seconds",
        time=dict.fromkeys(batches[0], "time"),
        **settings,
    )


def _batches(
    case: Case, seed: int, often: FloatArray = ZIPF
) -> list[dict[str, pa.Table]]:
    rng = np.random.default_rng([seed, case.streams])
    chance = often / often.sum()
    return [
        {name: _table(rng, case, chance, number) for name in "abcd"[: case.streams]}
        for number in range(BATCHES)
    ]


def _table(
    rng: np.random.Generator, case: Case, chance: FloatArray, number: int
) -> pa.Table:
    when = BATCH_S * (number + np.sort(rng.random(case.rows)))
    key = rng.choice(chance.size, case.rows, p=chance) * 7919 % 100_003
    x = key + rng.random(case.rows) / 2
    if case.smooth:
        x = 100 * np.exp(rng.standard_normal(case.rows))
    time_us = START_US + (1e6 * when).astype(np.int64)
    return pa.table(
        {"time": pa.array(time_us, pa.timestamp("us", "UTC")), "key": key, "x": x}
    )
