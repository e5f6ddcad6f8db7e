"""Window harvesting on Spark, in a CPU budget that a third of the rows would fill.

Three kinds of sensors report a place and a reading. The reading follows a wave that
passes each kind some seconds later, so rows that are near in place and in reading have
the lag of their kinds; their places alone have not. Results are rows of all three kinds
near each other in both. First the rate is measured at which micro-batches of 5 s take
4 s with nothing shed. Then files come in real time at three times that rate, every
second one of each kind, under a CPU budget of 4 of 5 s, once with ``Harvest`` and once
with ``RandomDrop``; both start with a throttle of 5 %. ``gain_spark`` is results of a
row over results of a row, in the last third of the time. ``seconds_*`` is the median
time of a micro-batch then, ``recall_*`` what the join says of its recall.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from benchmarks import engine
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.streams import START_US
from shedjoin import policies

SEED = 3
ROAD, NEAR = 1000.0, 200.0
SPEED, ALIKE = 20.0, 0.01
LAGS = {"a": 0.0, "b": 5.0, "c": 12.0}
NOISE = {"a": 1.0, "b": 1.0, "c": 4.0}
WINDOW_S, TRIGGER_S, CPU = 60, 5, 0.8
TARGET_S = CPU * TRIGGER_S
TIMES = 3.0
CLOSED = 0.05


class Size(NamedTuple):
    """How long to offer rows, the first guess of a rate, and how often to guess."""

    seconds: int = 150
    rate: float = 4_000.0
    attempts: int = 4


FULL, QUICK = Size(), Size(seconds=40, rate=100.0, attempts=1)


def run(*, quick: bool) -> Record:
    size = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        able = _able(spark, Path(scratch, "able"), size)
        figures = {"rows_per_s": 3 * able, "target_s": TARGET_S}
        kept = {}
        for keep in (policies.Harvest(), policies.RandomDrop()):
            name = type(keep).__name__.lower()
            folder = Path(scratch, name)
            _write(folder, TIMES * able, size.seconds, hidden=True)
            told = _limited(spark, folder, keep, size)
            kept[name] = told["results"] / told["rows"]
            figures |= {f"{what}_{name}": value for what, value in told.items()}
        figures["gain_spark"] = kept["harvest"] / max(kept["randomdrop"], 1e-9)
        spark.stop()
    sizes = {
        "window_s": WINDOW_S,
        "trigger_s": TRIGGER_S,
        "seconds": size.seconds,
        "times": TIMES,
        "seed": SEED,
    }
    return Record("harvest-spark", sizes, figures)


def _able(spark: SparkSession, scratch: Path, size: Size) -> float:
    """Rows per second of each stream that can be joined in the time."""
    rate = size.rate
    for attempt in range(size.attempts):
        folder = scratch / str(attempt)
        seconds = WINDOW_S + 5 * TRIGGER_S
        _write(folder, rate, seconds, hidden=False)
        frame = _joined(spark, folder, None, None)
        timing = engine.run(frame, "nothing shed", seconds // TRIGGER_S)
        full = WINDOW_S // TRIGGER_S + 1
        taken = statistics.median(timing.milliseconds[full:]) / 1000
        note(f"{3 * rate:,.0f} rows/s, nothing shed: {taken:.2f} s a micro-batch")
        if abs(taken / TARGET_S - 1) < 0.1:
            break
        # Work grows faster than the rate: every row finds more to look at.
        rate *= float(np.clip((TARGET_S / taken) ** 0.5, 0.5, 2.0))
    return rate


def _limited(
    spark: SparkSession, folder: Path, keep: policies.Policy, size: Size
) -> dict[str, float]:
    control = sj.Control(folder / "control")
    control.send(throttle={"share": CLOSED})
    query = (
        _joined(spark, folder, keep, control)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime=f"{TRIGGER_S} seconds")
        .start()
    )
    # Real time begins when workers have been started and kernels loaded.
    _show(folder, 0)
    query.processAllAvailable()
    started = time.time()
    for number in range(1, size.seconds):
        time.sleep(max(0.0, started + number - time.time()))
        _show(folder, number)
    steps: list[Any] = [p for p in query.recentProgress if p["numInputRows"] > 0]
    query.stop()
    late = started + 2 * size.seconds / 3
    steps = [s for s in steps if engine.moment(s["timestamp"]) > late] or steps[-1:]
    counts = [step["observedMetrics"]["shedjoin"].asDict() for step in steps]
    milliseconds = [step["durationMs"]["triggerExecution"] for step in steps]
    exact = sum(count["measured"] + count["missed"] for count in counts)
    matched = sum(count["matched"] for count in counts)
    told = {
        "seconds": statistics.median(milliseconds) / 1000,
        "results": float(matched),
        "rows": float(sum(count[f"seen_{s}"] for count in counts for s in LAGS)),
        "recall": matched / exact if exact else 1.0,
        "share": engine.record_of(counts[-1])["in_force"]["throttle"]["share"],
    }
    note(f"{keep!r}: {told}, milliseconds {milliseconds}")
    return told


def _show(folder: Path, second: int) -> None:
    """Put the files of a second where the query finds them."""
    for name in LAGS:
        file = f"{second:05d}.parquet"
        (folder / f"{name}-coming" / file).rename(folder / name / file)


def _joined(
    spark: SparkSession,
    folder: Path,
    keep: policies.Policy | None,
    control: sj.Control | None,
) -> DataFrame:
    streams = {}
    for name in LAGS:
        schema = "at timestamp, place double, reading double"
        files = TRIGGER_S if control is None else 1000
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
        frame = reader.parquet(str(folder / name))
        streams[name] = frame.withWatermark("at", "1 second")
    return sj.multijoin(
        streams,
        on=[sj.Band("place", NEAR), sj.Band("reading", ALIKE)],
        within=f"{WINDOW_S} seconds",
        budget=None if keep is None else sj.Budget(cpu=CPU),
        keep=keep,
        control=control,
        options=sj.Options(cells=sj.Cells([ROAD / 2])),
    )


def _write(folder: Path, rate: float, seconds: int, *, hidden: bool) -> None:
    rng = np.random.default_rng(SEED)
    for name, lag in LAGS.items():
        for place in (name, f"{name}-coming"):
            (folder / place).mkdir(parents=True)
        for number in range(seconds):
            rows = int(rate)
            when = np.sort(number + rng.random(rows))
            reading = SPEED * (when - lag) + NOISE[name] * rng.standard_normal(rows)
            time_us = START_US + (1e6 * when).astype(np.int64)
            columns = {
                "at": pa.array(time_us, pa.timestamp("us", "UTC")),
                "place": ROAD * rng.random(rows),
                "reading": reading,
            }
            place = f"{name}-coming" if hidden else name
            path = folder / place / f"{number:05d}.parquet"
            pq.write_table(pa.table(columns), path)
            os.utime(path, (1_700_000_000 + number,) * 2)
