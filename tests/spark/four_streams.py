"""Four streams of files, and Spark's own join of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj

from .sources import Sources

BATCHES, ROWS, KEYS = 8, 80, 10
START_US = 1_700_000_000_000_000
DELAY = "4 seconds"
BEFORE_S, AFTER_S = 3, 6
WINDOW = sj.Within(before=f"{BEFORE_S} seconds", after=f"{AFTER_S} seconds")
NAMES = "abcd"


def rows_of(name: str) -> list[pa.Table]:
    """Ten seconds a micro-batch, out of order; some rows are late by a minute."""
    rng = np.random.default_rng(NAMES.index(name))
    made = []
    for number in range(BATCHES):
        seconds = 10 * number + rng.uniform(-3, 10, ROWS)
        seconds[:5] -= 60 * (number > 2)
        time = START_US + (seconds * 1e6).astype(np.int64)
        columns = {
            "k": rng.integers(0, KEYS, ROWS),
            f"t_{name}": pa.array(time, pa.timestamp("us", "UTC")),
            f"id_{name}": np.arange(number * ROWS, (number + 1) * ROWS),
        }
        made.append(pa.table(columns))
    return made


SENT = {name: rows_of(name) for name in NAMES}


class Streams(NamedTuple):
    """Four streams of files, of which the second half comes later."""

    folder: Path
    spark: SparkSession

    def write(self, first: int, end: int) -> Streams:
        """Write some micro-batches."""
        for pair in ("ab", "cd"):
            tables = zip(*(SENT[name][first:end] for name in pair), strict=True)
            Sources(self.folder / pair).write(list(tables), first)
        return self

    def read(self) -> dict[str, DataFrame]:
        """All streams by name."""
        found = {}
        for pair in ("ab", "cd"):
            frames = Sources(self.folder / pair).read(self.spark)
            for name, frame in zip(pair, frames, strict=True):
                found[name] = frame.withWatermark(f"t_{name}", DELAY)
        return found


def near(early: str, late: str) -> Column:
    """The window as a condition."""
    before, after = timedelta(seconds=BEFORE_S), timedelta(seconds=AFTER_S)
    time = F.col(early)
    return F.col(late).between(time - F.lit(before), time + F.lit(after))


def native_join(left: DataFrame, right: DataFrame, early: str, late: str) -> DataFrame:
    """Spark's own join with the same condition."""
    right = right.withColumnRenamed("k", "other_k")
    return left.join(right, (F.col("k") == F.col("other_k")) & near(early, late)).drop(
        "other_k"
    )
