"""Pairs of frames over files in one folder."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from shedjoin import Within

Frames = tuple[DataFrame, DataFrame]

TIMES = ("left_time", "right_time")
MINUTE = Within(before="1 minute", after="1 minute")


def as_streams(frames: Frames, delay: str = "1 minute") -> Frames:
    """Both streams with a watermark."""
    left, right = frames
    return left.withWatermark(TIMES[0], delay), right.withWatermark(TIMES[1], delay)


def as_tables(spark: SparkSession, folder: Path) -> Frames:
    """The files of both sides as batch DataFrames."""
    left, right = (spark.read.parquet(str(folder / n)) for n in ("left", "right"))
    return left, right


def empty_stream(spark: SparkSession, folder: Path, columns: str) -> DataFrame:
    """A stream of these columns that has no rows yet."""
    folder.mkdir(parents=True, exist_ok=True)
    return spark.readStream.schema(columns).parquet(str(folder))
