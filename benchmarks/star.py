"""Star joins on Spark, against what Spark itself offers.

Setting: a relation of 100,000 rows, two streams of 2 M rows in 10 files of 6 minutes,
one file of each in a micro-batch, rows within 300 s of each other, a sink that
discards, local mode on two cores. One row in five has a key that the relation does not
have. With Spark alone one joins the left stream with the table, which is broadcast, and
the result with the right stream. Contestants run in turns within one session;
``native`` is Spark's on RocksDB, as ours is, ``memory`` on its in-memory store, which
is its fastest. The rate is rows of both streams over the median micro-batch time
without the first two of each run. ``equal`` says that all gave as many results, with
the same checksum.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import shedjoin as sj
from benchmarks import engine
from benchmarks.console import note, progress
from benchmarks.record import Record
from benchmarks.streams import START_US

WINDOW = 300
SIDES = ("left", "right")
ROUNDS = 2
RELATED = 0.8


@dataclass(frozen=True, slots=True)
class Setting:
    """Rows of each stream, in files of equal stretches of time, and of the relation."""

    rows: int
    relation: int
    files: int = 10
    seconds: int = 3600
    seed: int = 5

    def write(self, folder: Path) -> None:
        """Write a folder of files for each stream, and the relation."""
        rng = np.random.default_rng(self.seed)
        with progress() as display:
            task = display.add_task("writing streams", total=2 * self.files)
            for side in SIDES:
                (folder / side).mkdir(parents=True)
                for number in range(self.files):
                    path = folder / side / f"{number:05d}.parquet"
                    pq.write_table(self._part(side, number, rng), path)
                    os.utime(path, (1_700_000_000 + number,) * 2)
                    display.advance(task)
        right = rng.integers(0, self.relation, self.relation)
        relation = pa.table({"a": np.arange(self.relation), "b": right})
        pq.write_table(relation, folder / "relation.parquet")

    def _part(self, side: str, number: int, rng: np.random.Generator) -> pa.Table:
        size, span = self.rows // self.files, self.seconds * 1_000_000 // self.files
        time = np.sort(rng.integers(0, span, size)) + number * span + START_US
        return pa.table(
            {
                f"{side}_key": rng.integers(0, int(self.relation / RELATED), size),
                f"{side}_time": pa.array(time, pa.timestamp("us", "UTC")),
                f"{side}_id": np.arange(size) + number * size,
            }
        )


FULL, QUICK = Setting(2_000_000, 100_000), Setting(6_000, 500, files=3, seconds=1080)


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
        "relation_rows": setting.relation,
        "micro_batches": setting.files,
        "window_s": WINDOW,
        "seed": setting.seed,
        "rounds": rounds,
    }
    return Record("star", sizes, figures)


def _race(
    spark: SparkSession, folder: Path, setting: Setting, rounds: int
) -> dict[str, Any]:
    contestants: dict[str, tuple[str, Callable[..., DataFrame]]] = {
        "star": ("rocksdb", _star),
        "native": ("rocksdb", _native),
        "memory": ("memory", _native),
    }
    relation = spark.read.parquet(str(folder / "relation.parquet"))
    timings: dict[str, list[engine.Timing]] = {}
    results: set[tuple[int, int]] = set()
    for number in range(rounds):
        for name, (store, make) in contestants.items():
            engine.use_store(spark, store)
            result = make(*_streams(spark, folder), relation)
            result = result.observe("told", *engine.digest("left_id", "right_id"))
            label = f"round {number + 1}: {name}"
            timing = engine.run(result, label, setting.files)
            timings.setdefault(name, []).append(timing)
            results.add(engine.totals(timing))
            note(f"{label:<24} {engine.rate([timing]):>10,.0f} rows/s")
    rates = {name: engine.rate(found) for name, found in timings.items()}
    figures: dict[str, Any] = {f"{n}_rows_per_s": rate for n, rate in rates.items()}
    figures["ratio"] = rates["star"] / rates["native"]
    figures["ratio_memory"] = rates["star"] / rates["memory"]
    figures["results"] = next(iter(results))[0]
    figures["equal"] = len(results) == 1
    return figures


def _streams(spark: SparkSession, folder: Path) -> list[DataFrame]:
    found = []
    for side in SIDES:
        schema = f"{side}_key long, {side}_time timestamp, {side}_id long"
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frame = reader.parquet(str(folder / side))
        found.append(frame.withWatermark(f"{side}_time", "10 seconds"))
    return found


def _star(left: DataFrame, right: DataFrame, relation: DataFrame) -> DataFrame:
    window = sj.Within(before=f"{WINDOW} seconds", after=f"{WINDOW} seconds")
    on = {"left": "left_key", "right": "right_key"}
    related = sj.Relation(relation, left="a", right="b")
    return sj.join(left, right, on=on, through=related, within=window)


def _native(left: DataFrame, right: DataFrame, relation: DataFrame) -> DataFrame:
    related = left.join(F.broadcast(relation), F.col("left_key") == F.col("a"))
    reach, time = F.expr(f"INTERVAL {WINDOW} SECONDS"), F.col("left_time")
    near = F.col("right_time").between(time - reach, time + reach)
    return related.join(right, (F.col("b") == F.col("right_key")) & near)
