"""What a row costs however many there are, and what a shard costs beside its rows.

Rows: the same arrival rate and window, up to 100 M rows in all; the cost of a row in
the last tenth of the stream against that in the first million. Shards: the same rows
on 2, 20, 200 and 1,000 shards, without and with a budget whose models are as large as
they get; and one key alone, so that all shards but one are idle. The cost of a shard is
the slope over the number of shards, in milliseconds of a core; all of them lie in two
partitions of Spark. What a partition costs is Spark's own: the same slope over
partitions of its deduplication, which never leaves the JVM. Restart: micro-batches that
have to restore their state from the state store, as the first after a restart has,
against those that find it on the node, for a small and a large window. Calls to the
state store are counted for one shard (``calls.py``).
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from benchmarks import engine
from benchmarks.calls import calls_per_shard
from benchmarks.capacity import Constants, capacity
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.streams import Stream
from shedjoin.spark.disk import ENABLED

CORES = 2
WINDOW = 60
PER_FILE, SECONDS = 500_000, 120
"""Rows a side and seconds of each micro-batch: half of them are in a window."""
AMPLE = 1 << 13
"""Residents that a shard may have with a budget: from there on models are largest."""
SHARDS, QUICK_SHARDS = (2, 20, 200, 1000), (2, 6)
FILES, QUICK_FILES = 6, 3


def run(*, quick: bool) -> Record:
    figures: dict[str, Any] = {}
    details: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        figures["rows_ratio"], details["rows"] = _rows(
            spark, Path(scratch), quick=quick
        )
        shards = _Shards(spark, Path(scratch, "shards"), quick=quick)
        for name, keys, budget in (
            ("idle_shard", 1, False),
            ("busy_shard", None, False),
            ("budgeted_shard", None, True),
        ):
            cost = shards.cost(keys, budget=budget)
            figures[f"{name}_ms"] = cost["ms"]
            details[name] = cost
        figures |= {
            "idle_state_calls": calls_per_shard(rows=0),
            "busy_state_calls": calls_per_shard(),
            "budgeted_state_calls": calls_per_shard(budget=sj.Budget(rows=AMPLE)),
        }
        figures["spark_partition_ms"], details["spark_partition"] = _partition(
            spark, Path(scratch, "partitions"), quick=quick
        )
        figures["budgeted_written_bytes"] = details["budgeted_shard"]["written_bytes"]
        figures["restore_ms_per_mb"], details["restore"] = _restore(
            spark, Path(scratch, "restore"), quick=quick
        )
        spark.stop()
    rows = details["rows"]
    constants = Constants(
        row_us=CORES * rows["late_us"],
        shard_ms=figures["busy_shard_ms"],
        restore_ms_per_mb=figures["restore_ms_per_mb"],
        state_bytes_per_row=rows["state_bytes_per_row"],
        written_bytes_per_row=rows["written_bytes_per_row"],
    )
    details["constants"] = constants._asdict()
    for rate in (1e6, 1e7):
        needs = capacity(constants, rate)
        details[f"capacity_{rate:.0e}"] = needs._asdict()
        note(
            ", ".join(f"{name} {value:,.1f}" for name, value in needs._asdict().items())
        )
    sizes = {
        "rows_per_micro_batch": 2 * (PER_FILE // (500 if quick else 1)),
        "window_s": WINDOW,
        "shards": QUICK_SHARDS if quick else SHARDS,
        "seed": 7,
    }
    return Record("scale", sizes, figures, details)


def _rows(
    spark: SparkSession, scratch: Path, *, quick: bool
) -> tuple[float, dict[str, float]]:
    """Cost of a row late in a long stream over that early in it."""
    files = 12 if quick else 100
    per_file = PER_FILE // (500 if quick else 1)
    stream = Stream(files * per_file, files, per_file // 5, files * SECONDS, seed=7)
    folder = scratch / "rows"
    stream.write(folder)
    timing = engine.run(_joined(spark, folder, 2, None), "rows", files)
    each = [
        1e6 * ms / 1000 / rows
        for rows, ms in zip(timing.rows, timing.milliseconds, strict=True)
    ]
    tenth = max(1, files // 10)
    early = statistics.median(each[engine.WARM_UP : engine.WARM_UP + tenth])
    late = statistics.median(each[-tenth:])
    note(f"a row costs {early:.2f} us early and {late:.2f} us late")
    last = timing.counts[-1]
    resident = max(1, last["resident_left"] + last["resident_right"])
    return late / early, {
        "early_us": early,
        "late_us": late,
        "rows": sum(timing.rows),
        "state_bytes_per_row": last["state_bytes"] / resident,
        "written_bytes_per_row": last["written_bytes"] / timing.rows[-1],
    }


def _partition(
    spark: SparkSession, scratch: Path, *, quick: bool
) -> tuple[float, list[float]]:
    """Milliseconds of a core that one more partition of a stateful operator costs.

    Nearly all partitions get no row.
    """
    counts, files = (2, 4 if quick else 50), QUICK_FILES if quick else FILES
    Stream(60, files, 1, files * SECONDS, seed=7).write(scratch)
    took = []
    for partitions in counts:
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        sides = (engine.source(spark, scratch, side) for side in ("left", "right"))
        left, right = (frame.toDF("key", "time", "value") for frame in sides)
        unique = left.union(right).dropDuplicatesWithinWatermark(["key", "time"])
        timing = engine.run(unique, f"{partitions} partitions of Spark's own", files)
        took.append(statistics.median(timing.milliseconds[1:]))
        note(f"{partitions:>5} partitions of Spark's own {took[-1]:>8.0f} ms")
    spark.conf.set("spark.sql.shuffle.partitions", str(CORES))
    return CORES * (took[1] - took[0]) / (counts[1] - counts[0]), took


def _restore(
    spark: SparkSession, scratch: Path, *, quick: bool
) -> tuple[float, list[dict[str, float]]]:
    """Milliseconds of a core that restoring a megabyte of state takes."""
    files, rows = (4, 1_000) if quick else (8, PER_FILE // 2)
    stream = Stream(files * rows, files, rows, files * SECONDS, seed=7)
    stream.write(scratch)
    found = []
    for window in (WINDOW, 6 * WINDOW):
        took = {}
        for copies in ("true", "false"):
            spark.conf.set(ENABLED, copies)
            frame = _joined(spark, scratch, 2, None, window)
            timing = engine.run(frame, f"{window} s, copies {copies}", files)
            took[copies] = statistics.median(timing.milliseconds[-2:])
        spark.conf.unset(ENABLED)
        megabytes = timing.counts[-1]["state_bytes"] / 1e6
        more = took["false"] - took["true"]
        note(f"{megabytes:>6.1f} MB of state: {more:.0f} ms more to restore it")
        found.append({"megabytes": megabytes, "more_ms": more, "with_ms": took["true"]})
    small, large = found
    size = large["megabytes"] - small["megabytes"]
    return CORES * (large["more_ms"] - small["more_ms"]) / size, found


class _Shards:
    """The same rows on more and more shards."""

    def __init__(self, spark: SparkSession, folder: Path, *, quick: bool) -> None:
        self._spark = spark
        self._folder = folder
        self._counts = QUICK_SHARDS if quick else SHARDS
        files, rows = (QUICK_FILES, 500) if quick else (FILES, PER_FILE // 4)
        self._stream = Stream(files * rows, files, rows, files * SECONDS, seed=7)

    def cost(self, keys: int | None, *, budget: bool) -> dict[str, Any]:
        """Milliseconds of a core and bytes that one more shard costs."""
        stream = self._stream if keys is None else replace(self._stream, rows=60)
        stream = stream if keys is None else replace(stream, keys=keys)
        folder = self._folder / f"{keys}-{budget}"
        stream.write(folder)
        limit = None
        if budget:
            limit = sj.Budget(rows=AMPLE * self._counts[-1])
        took, written = [], []
        for shards in self._counts:
            frame = _joined(self._spark, folder, shards, limit)
            timing = engine.run(frame, f"{shards} shards", stream.files)
            took.append(statistics.median(timing.milliseconds[1:]))
            counts = timing.counts[1:]
            written.append(statistics.median(one["written_bytes"] for one in counts))
            note(f"{shards:>5} shards {took[-1]:>8.0f} ms {written[-1]:>12,.0f} bytes")
        span = self._counts[-1] - self._counts[0]
        return {
            "ms": CORES * (took[-1] - took[0]) / span,
            "written_bytes": (written[-1] - written[0]) / span,
            "milliseconds": took,
            "bytes": written,
        }


def _joined(
    spark: SparkSession,
    folder: Path,
    shards: int,
    budget: sj.Budget | None,
    window: int = WINDOW,
) -> DataFrame:
    left, right = (engine.source(spark, folder, side) for side in ("left", "right"))
    span = f"{window} seconds"
    within = sj.Within(before=span, after=span)
    return sj.join(
        left,
        right,
        on="key",
        within=within,
        options=sj.Options(shards=shards),
        budget=budget,
    )
