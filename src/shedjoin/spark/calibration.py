"""Measures what work costs on Spark, by joins of synthetic streams."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from shedjoin.control.folder import Control
from shedjoin.models.costs import Costs, Seconds, Work
from shedjoin.request.spec import Asked
from shedjoin.spark.join import join
from shedjoin.spec.budget import Budget
from shedjoin.spec.window import Within

_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_START_US = 1_700_000_000_000_000
_APART_US = 10_000_000
_WARM_UP = 2
_NAME = "calibration"
SIDES = ("left", "right")


class Sweep(NamedTuple):
    """What is measured: sizes of micro-batches, results per row, shares of the work."""

    rows: Sequence[int] = (5_000, 20_000, 80_000)
    results: Sequence[float] = (0.5, 4.0, 12.0)
    shares: Sequence[float] = (1.0, 0.3)
    rounds: int = 1
    seed: int = 1


class Measured(NamedTuple):
    """Work of a micro-batch, and the seconds that it took."""

    work: Work
    seconds: float


def calibrate(
    scratch: Path | None, shards: int | None, tell: Callable[[str], None]
) -> Seconds:
    """Measure what work costs in the Spark session of this environment.

    By default there is one shard for each core.
    """
    tell("Spark starts")
    session = SparkSession.builder.appName("shedjoin calibrate").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.conf.set(_STORE, _ROCKSDB)
    partitions = shards or session.sparkContext.defaultParallelism
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    costs = Costs()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        try:
            for work, seconds in measure(session, Path(folder), tell, Sweep()):
                costs.observe(work, seconds)
        finally:
            session.stop()
    return costs.seconds()


def measure(
    session: SparkSession, folder: Path, tell: Callable[[str], None], sweep: Sweep
) -> list[Measured]:
    """Join micro-batches of all sizes and proportions, and measure their times."""
    write_streams(folder, sweep)
    found = []
    for share in sweep.shares:
        tell(f"micro-batches at a share of {share:g}")
        control = Control(folder / f"control-{share:g}")
        control.send(throttle={"share": share})
        frame = _joined(session, folder, control)
        query = (
            frame.writeStream.format("noop")
            .option("checkpointLocation", str(folder / f"checkpoint-{share:g}"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        done = [p for p in query.recentProgress if p.numInputRows]
        found += [_measured(progress) for progress in done[_WARM_UP:]]
    return found


def _measured(progress: StreamingQueryProgress) -> Measured:
    counts = progress.observedMetrics[_NAME].asDict()
    seen, stored = (
        float(sum(counts[f"{name}_{side}"] for side in SIDES))
        for name in ("seen", "stored")
    )
    seconds = progress.durationMs["triggerExecution"] / 1000
    return Measured(Work(1, seen, stored, counts["matched"]), seconds)


def write_streams(folder: Path, sweep: Sweep) -> None:
    """Write one file for each stream and micro-batch.

    Rows match only rows of the same micro-batch.
    """
    rng = np.random.default_rng(sweep.seed)
    kinds = list(product(sweep.rows, sweep.results)) * sweep.rounds
    rng.shuffle(kinds)
    kinds = [kinds[0]] * _WARM_UP + kinds
    for side in SIDES:
        (folder / side).mkdir(parents=True, exist_ok=True)
        for number, (rows, results) in enumerate(kinds):
            table = _part(side, number, int(rows), float(results), rng)
            path = folder / side / f"{number:04d}.parquet"
            pq.write_table(table, path)
            # Spark reads files by age; files of the same millisecond come in any order.
            os.utime(path, times=(number, number))


def _part(
    side: str, number: int, rows: int, results: float, rng: np.random.Generator
) -> pa.Table:
    keys = max(1, int(rows / (2 * results)))
    time = np.sort(rng.integers(0, 1_000_000, rows)) + number * _APART_US + _START_US
    return pa.table(
        {
            "key": rng.integers(0, keys, rows),
            f"{side}_time": pa.array(time, pa.timestamp("us", "UTC")),
            f"{side}_value": rng.random(rows),
        }
    )


def _joined(session: SparkSession, folder: Path, control: Control) -> DataFrame:
    frames = []
    for side in SIDES:
        schema = f"key long, {side}_time timestamp, {side}_value double"
        reader = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frame = reader.parquet(str(folder / side))
        frames.append(frame.withWatermark(f"{side}_time", "1 second"))
    budget = Budget(rows=1 << 40)  # a throttle needs a budget; this one is never full
    second = Within(before="1 second", after="1 second")
    asked = Asked(on="key", within=second, budget=budget)
    streams = dict(zip(SIDES, frames, strict=True))
    return join(streams, asked, _NAME, None, control)
