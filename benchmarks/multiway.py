"""Joins by distance and of three streams on Spark, against what Spark itself offers.

Setting: streams of 1 M rows in 10 files of 6 minutes, windows of 300 s, one file of
each in a micro-batch, a sink that discards, local mode on two cores. ``band`` joins two
streams by values within eps of each other, about two partners each. With Spark alone
one joins by buckets as wide as eps, one side copied to both neighbours, and filters.
``three`` joins three streams by key; with Spark alone that is two joins in a chain.
Contestants run in turns within one session, Spark's on its in-memory store, which is
its fastest. The rate is rows over the median micro-batch time without the first two of
each run. ``equal`` says that both gave as many results, with the same checksum.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import shedjoin as sj
from benchmarks import engine
from benchmarks.console import note, progress
from benchmarks.record import Record
from benchmarks.streams import START_US

WINDOW = 300
SPREAD = 1_000_000.0
NAMES = "abc"
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Setting:
    """Rows of each stream, in files of equal stretches of time."""

    rows: int
    files: int = 10
    seconds: int = 3600
    seed: int = 5

    @property
    def eps(self) -> float:
        """So wide that a row finds about two partners."""
        residents = self.rows * 2 * WINDOW / self.seconds
        return SPREAD / residents

    @property
    def keys(self) -> int:
        """So many that a row finds one partner or two in another stream."""
        return self.rows // 10

    def write(self, folder: Path) -> None:
        """Write a folder of files for each stream."""
        rng = np.random.default_rng(self.seed)
        with progress() as display:
            task = display.add_task("writing streams", total=len(NAMES) * self.files)
            for name in NAMES:
                (folder / name).mkdir(parents=True)
                for number in range(self.files):
                    path = folder / name / f"{number:05d}.parquet"
                    pq.write_table(self._part(name, number, rng), path)
                    os.utime(path, (1_700_000_000 + number,) * 2)
                    display.advance(task)

    def _part(self, name: str, number: int, rng: np.random.Generator) -> pa.Table:
        size, span = self.rows // self.files, self.seconds * 1_000_000 // self.files
        time = np.sort(rng.integers(0, span, size)) + number * span + START_US
        return pa.table(
            {
                "key": rng.integers(0, self.keys, size),
                f"{name}_x": rng.random(size) * SPREAD,
                f"{name}_time": pa.array(time, pa.timestamp("us", "UTC")),
                f"{name}_id": np.arange(size) + number * size,
            }
        )


FULL, QUICK = Setting(1_000_000), Setting(6_000, files=3, seconds=1080)


def run(*, quick: bool) -> Record:
    setting, rounds = (QUICK, 1) if quick else (FULL, ROUNDS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "streams")
        setting.write(folder)
        spark = engine.session(Path(scratch))
        figures = _race(spark, folder, setting, rounds)
        spark.stop()
    sizes = {
        "rows_per_stream": setting.rows,
        "micro_batches": setting.files,
        "window_s": WINDOW,
        "seed": setting.seed,
        "rounds": rounds,
    }
    return Record("multiway", sizes, figures)


def _race(
    spark: SparkSession, folder: Path, setting: Setting, rounds: int
) -> dict[str, Any]:
    contestants: dict[str, Callable[[dict[str, DataFrame]], DataFrame]] = {
        "band": lambda streams: _band(streams, setting),
        "band_native": lambda streams: _native_band(streams, setting),
        "three": _three,
        "three_native": _native_three,
    }
    timings: dict[str, list[engine.Timing]] = {}
    results: dict[str, set[tuple[int, int]]] = {}
    for number in range(rounds):
        for name, make in contestants.items():
            is_native = name.endswith("native")
            engine.use_store(spark, "memory" if is_native else "rocksdb")
            result = make(_streams(spark, folder)).observe(
                "told", *engine.digest("a_id", "b_id")
            )
            label = f"round {number + 1}: {name}"
            timing = engine.run(result, label, setting.files)
            timings.setdefault(name, []).append(timing)
            found = results.setdefault(name.removesuffix("_native"), set())
            found.add(engine.totals(timing))
            note(f"{label:<24} {engine.rate([timing]):>10,.0f} rows/s")
    figures: dict[str, Any] = {}
    for name in ("band", "three"):
        ours, native = (engine.rate(timings[n]) for n in (name, f"{name}_native"))
        figures[f"{name}_rows_per_s"] = ours
        figures[f"{name}_native_rows_per_s"] = native
        figures[f"ratio_{name}"] = ours / native
        figures[f"{name}_results"] = next(iter(results[name]))[0]
        figures[f"{name}_equal"] = len(results[name]) == 1
    return figures


def _streams(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    found = {}
    for name in NAMES:
        schema = f"key long, {name}_x double, {name}_time timestamp, {name}_id long"
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frame = reader.parquet(str(folder / name))
        found[name] = frame.withWatermark(f"{name}_time", "10 seconds")
    return found


def _band(streams: dict[str, DataFrame], setting: Setting) -> DataFrame:
    window = sj.Within(before=f"{WINDOW} seconds", after=f"{WINDOW} seconds")
    on = sj.Band({"left": "a_x", "right": "b_x"}, setting.eps)
    return sj.join(streams["a"], streams["b"], on=on, within=window)


def _native_band(streams: dict[str, DataFrame], setting: Setting) -> DataFrame:
    """By buckets: a partner lies in the same one or in a neighbour."""
    left, right = streams["a"].drop("key"), streams["b"].drop("key")
    near = F.floor(F.col("a_x") / setting.eps)
    left = left.withColumn("bucket", near)
    at = F.floor(F.col("b_x") / setting.eps)
    buckets = F.explode(F.array(at - 1, at, at + 1))
    right = right.withColumn("b_bucket", buckets)
    met = F.col("bucket") == F.col("b_bucket")
    close = F.abs(F.col("a_x") - F.col("b_x")) <= setting.eps
    return left.join(right, met & close & _within("a", "b"))


def _three(streams: dict[str, DataFrame]) -> DataFrame:
    return sj.multijoin(streams, on="key", within=f"{WINDOW} seconds")


def _native_three(streams: dict[str, DataFrame]) -> DataFrame:
    a = streams["a"]
    b, c = (streams[n].withColumnRenamed("key", f"{n}_key") for n in "bc")
    both = a.join(b, (F.col("key") == F.col("b_key")) & _within("a", "b"))
    # Spark wants one event time per stream: the other becomes a plain time.
    plain = F.col("b_time") + F.expr("INTERVAL 0 SECONDS")
    both = both.withColumn("b_time", plain)
    near = [F.col("key") == F.col("c_key"), _within("a", "c"), _within("b", "c")]
    return both.join(c, reduce(and_, near))


def _within(one: str, other: str) -> Column:
    reach, time = F.expr(f"INTERVAL {WINDOW} SECONDS"), F.col(f"{one}_time")
    return F.col(f"{other}_time").between(time - reach, time + reach)
