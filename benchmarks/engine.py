"""Queries on Spark and their timings."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import shedjoin
from benchmarks.console import progress

STORES = {
    "memory": "HDFSBackedStateStoreProvider",
    "rocksdb": "RocksDBStateStoreProvider",
}
_STATE = "spark.sql.streaming.stateStore"
WARM_UP = 2
"""Micro-batches left out of the median."""


def session(scratch: Path) -> SparkSession:
    """One local session with two cores; all contestants share it."""
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("shedjoin benchmarks")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(scratch / "local"))
        .config("spark.pyspark.python", sys.executable)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.numRecentProgressUpdates", "1000")
        .config(f"{_STATE}.rocksdb.changelogCheckpointing.enabled", "true")
        .config("spark.sql.streaming.join.stateFormatVersion", "3")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def digest(one: str, other: str) -> list[Column]:
    """Number of results, and an order-free checksum of who met whom."""
    check = F.xxhash64(one, other).cast("decimal(38,0)")
    return [F.count(F.lit(1)).alias("rows"), F.sum(check).alias("check")]


def totals(timing: Timing) -> tuple[int, int]:
    """Add up the digests of all micro-batches, observed as ``told``."""
    told = [observed["told"] for observed in timing.observed]
    rows, check = (sum(int(t[c] or 0) for t in told) for c in ("rows", "check"))
    return rows, check


def use_store(spark: SparkSession, store: str) -> None:
    """Choose the state store of the queries to come."""
    package = "org.apache.spark.sql.execution.streaming.state"
    spark.conf.set(f"{_STATE}.providerClass", f"{package}.{STORES[store]}")
    # State format 3 of Spark's join needs RocksDB; the in-memory store takes 2.
    version = "3" if store == "rocksdb" else "2"
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", version)


def source(
    spark: SparkSession,
    folder: Path,
    side: str,
    files: int = 1,
    delay: str = "10 seconds",
) -> DataFrame:
    """One stream, so many files at most per micro-batch."""
    schema = f"key long, {side}_time timestamp, {side}_value double"
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
    frame = reader.parquet(str(folder / side))
    return frame.withWatermark(f"{side}_time", delay)


def ours(spark: SparkSession, folder: Path, seconds: int) -> DataFrame:
    """Join with shedjoin."""
    window = shedjoin.Within(before=f"{seconds} seconds", after=f"{seconds} seconds")
    left, right = (source(spark, folder, side) for side in ("left", "right"))
    return shedjoin.join(left, right, on="key", within=window)


def native(left: DataFrame, right: DataFrame, seconds: int) -> DataFrame:
    """Join with Spark's own operator."""
    right = right.withColumnRenamed("key", "right_key")
    reach = F.expr(f"INTERVAL {seconds} SECONDS")
    return left.join(
        right,
        (F.col("key") == F.col("right_key"))
        & (F.col("right_time") >= F.col("left_time") - reach)
        & (F.col("right_time") <= F.col("left_time") + reach),
    ).drop("right_key")


def passthrough(spark: SparkSession, folder: Path) -> DataFrame:
    """Both streams through an identity stage in Python: the engine run bare."""
    frames = [
        source(spark, folder, side).toDF("key", "time", "value")
        for side in ("left", "right")
    ]
    both = frames[0].union(frames[1])
    return both.mapInArrow(_identity, both.schema)


def _identity(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


@dataclass(frozen=True, slots=True)
class Timing:
    """One run of a query: per micro-batch with data rows, milliseconds, metrics."""

    rows: list[int]
    milliseconds: list[int]
    observed: list[dict[str, dict[str, Any]]]
    phases: list[dict[str, int]]
    seconds: float

    @property
    def counts(self) -> list[dict[str, int]]:
        """What shedjoin counted in each micro-batch."""
        return [metrics.get("shedjoin", {}) for metrics in self.observed]

    def rates(self) -> list[float]:
        """Rows per second of each micro-batch after the warm-up."""
        pairs = zip(self.rows, self.milliseconds, strict=True)
        return [1000 * rows / ms for rows, ms in pairs][WARM_UP:]


def rate(runs: list[Timing]) -> float:
    """Rows over the median micro-batch time, over all runs."""
    return statistics.median(r for run in runs for r in run.rates())


def moment(timestamp: str) -> float:
    """Seconds of a time that progress tells."""
    return datetime.fromisoformat(timestamp).timestamp()


def record_of(counts: dict[str, Any]) -> dict[str, Any]:
    """What control messages have set, as progress tells it."""
    told: dict[str, Any] = json.loads(counts.get("control") or "{}")
    return told


def run(frame: DataFrame, label: str, batches: int) -> Timing:
    """Run a query over all its files into a sink that discards."""
    checkpoint = tempfile.mkdtemp()
    start = time.perf_counter()
    query = (
        frame.writeStream.format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    with progress() as display:
        task = display.add_task(label, total=batches)
        while not query.awaitTermination(1):
            done = sum(p["numInputRows"] > 0 for p in query.recentProgress)
            display.update(task, completed=done)
    seconds = time.perf_counter() - start
    steps: list[Any] = [p for p in query.recentProgress if p["numInputRows"] > 0]
    shutil.rmtree(checkpoint, ignore_errors=True)
    return Timing(
        rows=[p["numInputRows"] for p in steps],
        milliseconds=[p["durationMs"]["triggerExecution"] for p in steps],
        observed=[
            {k: v.asDict() for k, v in p["observedMetrics"].items()} for p in steps
        ],
        phases=[dict(p["durationMs"]) for p in steps],
        seconds=seconds,
    )
