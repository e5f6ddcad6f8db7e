"""Rows per second with a budget on Spark, against the join without one.

Setting: 2 M rows per side in 10 files, keys uniform over 200 k, a window of 300 s to
both sides, a budget of a tenth of the rows in a window. The join without a budget and
those with one run in turns within one session, after a round that does not count: in it
the engine and the workers warm up.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from benchmarks import engine
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.streams import Stream
from shedjoin.policies import Fifo, IJoin, Policy, Prob
from shedjoin.policies.goals import Goal

WINDOW = 300
FULL = Stream(rows=2_000_000, files=10, keys=200_000, seconds=3600, seed=7)
QUICK = Stream(rows=20_000, files=4, keys=2_000, seconds=1440, seed=7)
PART = 0.1
ROUNDS = 2
KEEP: dict[str, Goal | Policy] = {
    "most_results": sj.MostResults(),
    "prob": Prob(),
    "fifo": Fifo(),
    "ijoin": IJoin(),
    "sample": sj.Sample(),
}


def run(*, quick: bool) -> Record:
    stream = QUICK if quick else FULL
    rounds = 1 if quick else ROUNDS
    in_window = 2 * stream.rows * WINDOW / stream.seconds
    budget = sj.Budget(rows=int(PART * in_window))
    timings: dict[str, list[engine.Timing]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "streams")
        stream.write(folder)
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        for number in range(1 if quick else 0, rounds + 1):
            for name in ("exact", *KEEP):
                frame = _joined(spark, folder, budget, name)
                label = f"round {number}: {name}"
                timing = engine.run(frame, label, stream.files)
                if number:
                    timings.setdefault(name, []).append(timing)
                note(f"{label:<24}{engine.rate([timing]):>10,.0f} rows/s")
        spark.stop()
    rates = {name: engine.rate(runs) for name, runs in timings.items()}
    figures = {"rows_per_s": rates["exact"]}
    figures |= {f"ratio_{name}": rates[name] / rates["exact"] for name in KEEP}
    sizes = {
        "rows_per_side": stream.rows,
        "micro_batches": stream.files,
        "keys": stream.keys,
        "window_s": WINDOW,
        "budget_rows": budget.rows,
        "seed": stream.seed,
        "rounds": rounds,
    }
    return Record("budget-speed", sizes, figures)


def _joined(
    spark: SparkSession, folder: Path, budget: sj.Budget, name: str
) -> DataFrame:
    left, right = (engine.source(spark, folder, side) for side in ("left", "right"))
    span = f"{WINDOW} seconds"
    return sj.join(
        left,
        right,
        on="key",
        within=sj.Within(before=span, after=span),
        budget=None if name == "exact" else budget,
        keep=KEEP.get(name),
    )
