"""The exact join on Spark against Spark's own join and the bare engine.

Setting: 4 M rows per side in 10 files of 6 minutes, keys uniform over 400 k, a window
of 300 s to both sides, 10 micro-batches of 800 k rows, a sink that discards, local
mode on two cores. Contestants run in turns within one session. The rate is rows over
the median micro-batch time without the first two of each run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks import engine
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.streams import Stream, first_files

WINDOW = 300
FULL = Stream(rows=4_000_000, files=10, keys=400_000, seconds=3600, seed=7)
QUICK = Stream(rows=30_000, files=3, keys=4_000, seconds=1080, seed=7)
ROUNDS = 3
SLOW_ROUNDS = 1
SLOW_FILES = 4
"""Spark's join on RocksDB is given fewer micro-batches, not smaller ones."""


def run(*, quick: bool) -> Record:
    stream = QUICK if quick else FULL
    rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "streams")
        stream.write(folder)
        spark = engine.session(Path(scratch))
        timings = _race(spark, folder, stream, rounds)
        equal, results = _equal(spark, folder)
        spark.stop()
    return _record(stream, rounds, timings, equal=equal, results=results)


def _race(
    spark: SparkSession, folder: Path, stream: Stream, rounds: int
) -> dict[str, list[engine.Timing]]:
    fewer = min(SLOW_FILES, stream.files)
    short = first_files(folder, fewer)
    timings: dict[str, list[engine.Timing]] = {}

    def native(place: Path) -> DataFrame:
        sides = [engine.source(spark, place, side) for side in ("left", "right")]
        return engine.native(sides[0], sides[1], WINDOW)

    for number in range(rounds):
        contestants: dict[str, tuple[str, Callable[[], DataFrame]]] = {
            "passthrough": ("rocksdb", lambda: engine.passthrough(spark, folder)),
            "ours": ("rocksdb", lambda: engine.ours(spark, folder, WINDOW)),
        }
        if number < SLOW_ROUNDS:
            contestants["native_memory"] = ("memory", lambda: native(folder))
        if number == 0:
            contestants["native_rocksdb"] = ("rocksdb", lambda: native(short))
        for name, (store, make) in contestants.items():
            engine.use_store(spark, store)
            batches = fewer if name == "native_rocksdb" else stream.files
            timing = engine.run(make(), f"round {number + 1}: {name}", batches)
            timings.setdefault(name, []).append(timing)
            note(
                f"round {number + 1} {name:<15} {engine.rate([timing]):>10,.0f} rows/s"
                f"   whole run {timing.seconds:6.1f} s   {timing.milliseconds} ms"
            )
    return timings


def _equal(spark: SparkSession, folder: Path) -> tuple[bool, int]:
    """Compare all results with Spark's batch join (no row of this stream is late)."""
    sides = [spark.read.parquet(str(folder / side)) for side in ("left", "right")]
    truth = engine.native(sides[0], sides[1], WINDOW)
    columns = truth.columns
    expected = truth.select(*_digest(columns)).first()
    engine.use_store(spark, "rocksdb")
    found: dict[str, int] = {}

    def add(batch: DataFrame, _: int) -> None:
        part = batch.select(*_digest(columns)).first()
        for name, value in (part.asDict() if part else {}).items():
            found[name] = found.get(name, 0) + int(value or 0)

    query = (
        engine.ours(spark, folder, WINDOW)
        .writeStream.foreachBatch(add)
        .option("checkpointLocation", str(folder.parent / "equal"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    wanted = {} if expected is None else expected.asDict()
    return found == {name: int(value) for name, value in wanted.items()}, found["rows"]


def _digest(columns: list[str]) -> list[Column]:
    """Count and order-free checksums of rows."""
    checks = [
        F.xxhash64(F.lit(salt), *columns).cast("decimal(38,0)") for salt in (1, 2)
    ]
    sums = [F.sum(check).alias(f"check{n}") for n, check in enumerate(checks)]
    return [F.count(F.lit(1)).alias("rows"), *sums]


def _record(
    stream: Stream,
    rounds: int,
    timings: dict[str, list[engine.Timing]],
    *,
    equal: bool,
    results: int,
) -> Record:
    rates = {name: engine.rate(runs) for name, runs in timings.items()}
    mine = rates.pop("ours")
    figures = {"equal": equal, "results": results, "rows_per_s": mine}
    figures |= {f"{name}_rows_per_s": value for name, value in rates.items()}
    figures |= {f"ratio_{name}": mine / value for name, value in rates.items()}
    sizes = {
        "rows_per_side": stream.rows,
        "micro_batches": stream.files,
        "keys": stream.keys,
        "window_s": WINDOW,
        "seed": stream.seed,
        "rounds": rounds,
    }
    details: dict[str, Any] = {
        name: [
            {"whole_run_s": run.seconds, "milliseconds": run.milliseconds}
            for run in runs
        ]
        for name, runs in timings.items()
    }
    details["ours_phases_ms"] = timings["ours"][-1].phases[-1]
    return Record("exact", sizes, figures, details)
