"""Workloads with the join that belongs to them, as files and as DataFrames."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks import engine
from benchmarks.console import progress
from shedjoin.lab.workloads.markets import auctions, impressions
from shedjoin.lab.workloads.rows import Batches
from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.local.streams import START_US
from shedjoin.types import IntArray

SIDES = ("left", "right")
SEED = 11


@dataclass(frozen=True, slots=True)
class Score:
    """Results and what they are worth together."""

    results: float
    importance: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Two streams, the join that is asked for, and what a result is worth.

    ``reach_s`` is how long a left and a right row can be matched: the window's
    ``after`` and its ``before``. What comes before the first window has filled
    is not measured.
    """

    name: str
    make: Callable[[], Batches]
    key: str
    times: tuple[str, str]
    reach_s: tuple[int, int]
    seconds: int
    files: int
    importance: str | None = None

    @property
    def warm_us(self) -> int:
        """The event time from which results are measured."""
        return START_US + max(self.reach_s) * 1_000_000

    @property
    def ends_us(self) -> IntArray:
        """Event times at which measured micro-batches end."""
        ends = START_US + self.seconds * 1_000_000 * np.arange(self.files + 1)
        ends = START_US + (ends - START_US) // self.files
        return ends[ends >= self.warm_us]

    def write(self, folder: Path) -> tuple[int, int]:
        """Write one file per side and micro-batch; gives the rows of both sides."""
        batches = self.make()
        with progress() as display:
            task = display.add_task(f"writing {self.name}", total=len(batches))
            for number, tables in enumerate(batches):
                for side, table in zip(SIDES, tables, strict=True):
                    path = folder / side / f"{number:05d}.parquet"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    pq.write_table(table, path)
                    os.utime(path, (1_700_000_000 + number,) * 2)
                display.advance(task)
        rows = [sum(tables[side].num_rows for tables in batches) for side in (0, 1)]
        return rows[0], rows[1]

    def tables(self, spark: SparkSession, folder: Path) -> list[DataFrame]:
        """Both sides as batch DataFrames."""
        return [spark.read.parquet(str(folder / side)) for side in SIDES]

    def streams(self, spark: SparkSession, folder: Path) -> list[DataFrame]:
        """Both sides as streams, a file per micro-batch, no row late."""
        frames = []
        for side, time in zip(SIDES, self.times, strict=True):
            place = str(folder / side)
            reader = spark.readStream.schema(spark.read.parquet(place).schema)
            frame = reader.option("maxFilesPerTrigger", 1).parquet(place)
            frames.append(frame.withWatermark(time, "0 seconds"))
        return frames

    def native(
        self, left: DataFrame, right: DataFrame, reach_us: tuple[int, int]
    ) -> DataFrame:
        """Spark's own join with a window of any length."""
        after, before = (F.expr(f"INTERVAL '{us / 1e6:.6f}' SECOND") for us in reach_us)
        left_time, right_time = (F.col(name) for name in self.times)
        right = right.withColumnRenamed(self.key, "other_key")
        return left.join(
            right,
            (F.col(self.key) == F.col("other_key"))
            & (right_time >= left_time - before)
            & (right_time <= left_time + after),
        ).drop("other_key")

    def worth(self) -> Column:
        """What a result is worth."""
        return F.col(self.importance) if self.importance else F.lit(1.0)

    def measured(self) -> Column:
        """Whether a result came after the first window had filled."""
        later = F.greatest(*(F.unix_micros(F.col(name)) for name in self.times))
        return later >= self.warm_us

    def same_batch(self) -> Column:
        """Whether both rows of a result came in one micro-batch."""
        batch_us = self.seconds * 1_000_000 / self.files
        numbers = [
            F.floor((F.unix_micros(F.col(name)) - START_US) / batch_us)
            for name in self.times
        ]
        return numbers[0] == numbers[1]


def observed(
    matches: DataFrame, scene: Scene, label: str
) -> tuple[Score, engine.Timing]:
    """Run a streaming query and count its measured results."""
    measured = scene.measured()
    counted = matches.observe(
        "score",
        F.count_if(measured).alias("results"),
        F.sum(F.when(measured, scene.worth())).alias("importance"),
    )
    timing = engine.run(counted, label, scene.files)
    parts = [metrics.get("score", {}) for metrics in timing.observed]
    results = sum(part.get("results") or 0 for part in parts)
    return Score(results, sum(part.get("importance") or 0 for part in parts)), timing


def scenes(*, quick: bool) -> list[Scene]:
    """The three workloads; three windows and thirty micro-batches in full."""
    return sized_scenes(1_000, 2, 4) if quick else sized_scenes(10_000, 3, 30)


def sized_scenes(size: int, windows: int, files: int, seed: int = SEED) -> list[Scene]:
    """The same with so many rows of each stream of Zipf keys in a window."""
    rows = size * windows
    drift = Frequencies(5 * size, z=0.8, drift_s=100, drift_part=0.2, seed=seed)

    def hot_keys() -> Batches:
        return zipf(drift, rows=rows, seconds=300 * windows, batches=files, seed=seed)

    def bidding() -> Batches:
        return auctions(
            auctions=2 * rows, seconds=600 * windows, batches=files, seed=seed
        )

    def clicking() -> Batches:
        return impressions(
            impressions=4 * rows,
            users=2 * size,
            seconds=900 * windows,
            batches=files,
            seed=seed,
        )

    return [
        Scene(
            name="zipf",
            make=hot_keys,
            key="key",
            times=("left_time", "right_time"),
            reach_s=(300, 300),
            seconds=300 * windows,
            files=files,
        ),
        Scene(
            name="auctions",
            make=bidding,
            key="auction_id",
            times=("opened_at", "bid_at"),
            reach_s=(600, 0),
            seconds=600 * windows,
            files=files,
        ),
        Scene(
            name="impressions",
            make=clicking,
            key="user_id",
            times=("shown_at", "clicked_at"),
            reach_s=(900, 0),
            seconds=900 * windows,
            files=files,
            importance="price",
        ),
    ]
