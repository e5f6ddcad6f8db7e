"""The same call on batch DataFrames joins archived streams; empty inputs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Within
from support.streams import make_case, tables

from .frames import MINUTE, TIMES, as_streams, as_tables
from .joins import native, ours
from .queries import run, same
from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark


LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in (554, 211)]


@pytest.mark.parametrize("seed", [2024, 567, *LONG])
def test_equals_the_native_batch_join(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = make_case(seed)
    Sources(tmp_path).write(tables(case))
    frames = as_tables(spark, tmp_path)
    found = ours(case, frames, time=TIMES)
    assert not found.isStreaming
    expected = native(case, frames)
    assert found.columns == expected.columns
    assert same(map(tuple, found.collect()), map(tuple, expected.collect()))


def test_nothing_is_late_in_a_table(spark: SparkSession) -> None:
    times_of = "select 1 k, timestamp'{}' {}_time"
    early = spark.sql(times_of.format("0001-01-01 00:00:00", "left"))
    late = spark.sql(times_of.format("9999-12-31 23:59:59", "left"))
    right = spark.sql(times_of.format("0001-01-01 00:00:30", "right"))
    left = early.union(late)
    found = shedjoin.join(left, right, on="k", within=MINUTE, time=TIMES)
    assert found.count() == 1


@pytest.mark.parametrize("rows", [(0, 0), (3, 0), (0, 3)], ids=str)
def test_empty_inputs(
    rows: tuple[int, int], spark: SparkSession, tmp_path: Path
) -> None:
    batch = [
        pa.table({"k": ["a", "b", "c"], f"{side}_time": times(1, 2, 3)}).slice(0, n)
        for side, n in zip(("left", "right"), rows, strict=True)
    ]
    sources = Sources(tmp_path / "in").write([(batch[0], batch[1])] * 2)
    archived = as_tables(spark, tmp_path / "in")
    joined = shedjoin.join(*archived, on="k", within=MINUTE, time=TIMES)
    assert joined.collect() == []
    frames = as_streams(sources.read(spark))
    found = run(shedjoin.join(*frames, on="k", within=MINUTE), tmp_path / "out")
    assert found.rows == []
    assert found.total("seen_left", "seen_right") == 2 * sum(rows)
    assert found.total("late_left", "late_right", "matched") == 0


def test_a_stream_with_itself(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"k": [1, 1, 2], "left_time": times(1, 2, 3), "n": [1, 2, 3]})
    sources = Sources(tmp_path / "in").write([(table, table)])
    stream = sources.read(spark)[0].withWatermark("left_time", "0 seconds")
    joined = shedjoin.join(stream, stream, on="k", within=Within(after="1 second"))
    found = run(joined, tmp_path / "out")
    assert sorted((row[2], row[4]) for row in found.rows) == [
        (1, 1),
        (1, 2),
        (2, 2),
        (3, 3),
    ]
    names = ("left_time_left", "n_left", "left_time_right", "n_right")
    assert joined.columns == ["k", *names]
