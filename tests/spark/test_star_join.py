"""The join through a relation gives what Spark SQL gives for the three tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj
from shedjoin.errors import ParameterError

from .queries import run, same, start, stop_after_a_micro_batch

pytestmark = pytest.mark.spark

START_US = 1_700_000_000_000_000
BATCHES, ROWS, KEYS = 6, 60, 12
ON = (("a", "a"), ("b", "b"))
WITHIN = sj.Within(before="6 seconds", after="9 seconds")
TIME = pa.timestamp("us", "UTC")


def times(seconds: Any) -> pa.Array:  # noqa: ANN401
    us = START_US + (1e6 * np.asarray(seconds, np.float64)).astype(np.int64)
    return pa.array(us, TIME)


def stream(key: str, number: int) -> pa.Table:
    """Rows of ten seconds, out of order and some of them late by five."""
    rng = np.random.default_rng([ord(key), number])
    at = 10 * number + 10 * rng.random(ROWS) - 5 * (rng.random(ROWS) < 0.2)
    named = [None if k == 5 else f"{key}{k}" for k in rng.integers(0, KEYS, ROWS)]
    ids = np.arange(ROWS) + ROWS * number
    return pa.table({"t": times(at), key: named, f"{key}_id": ids})


def changes() -> list[pa.Table]:
    """Insertions, one in five with a begin in the past, and deletions in time."""
    rng = np.random.default_rng(7)
    found, active, ended = [], set[tuple[int, int]](), dict[tuple[int, int], float]()
    for number in range(BATCHES):
        rows: list[tuple[str, str, str, float]] = []
        for _ in range(40 if number == 0 else 12):
            pair = int(rng.integers(KEYS)), int(rng.integers(KEYS))
            names = f"a{pair[0]}", f"b{pair[1]}"
            if pair in active and rng.random() < 0.7:
                # Before all rows that it concerns: those of the next micro-batches.
                rows.append(("delete", *names, 10 * number + 10))
                active.discard(pair)
                ended[pair] = 10 * number + 10
            elif pair not in active:
                begin = 10 * number - 4 * (rng.random() < 0.2)
                rows.append(("insert", *names, max(begin, ended.get(pair, -20.0))))
                active.add(pair)
        what, a, b, at = zip(*rows, strict=True)
        found.append(pa.table({"what": what, "a": a, "b": b, "at": times(at)}))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("star")
    tables = {name: [stream(name, n) for n in range(BATCHES)] for name in "ab"}
    tables["changes"] = changes()
    for name, parts in tables.items():
        (made / name).mkdir()
        for number, part in enumerate(parts):
            file = made / name / f"{number}.parquet"
            pq.write_table(part, file)
            os.utime(file, (number, number))  # Spark reads the oldest first
    return made


def archived(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """The streams, and the relation as a table with the times of its rows."""
    tables = {n: spark.read.parquet(str(folder / n)) for n in ("a", "b", "changes")}
    made = tables.pop("changes")
    inserts = (
        made.where("what = 'insert'").drop("what").withColumnRenamed("at", "begin")
    )
    deletes = made.where("what = 'delete'").select("a", "b", F.col("at").alias("gone"))
    later = inserts.join(deletes, ["a", "b"], "left").where(
        "gone is null or gone > begin"
    )
    ends = later.groupBy("a", "b", "begin").agg(F.min("gone").alias("end"))
    back = ["a", "b", "begin"]
    tables["relation"] = inserts.join(ends, back, "left").select(*back, "end")
    return tables


def expected(spark: SparkSession, tables: dict[str, DataFrame]) -> list[Any]:
    for name, table in tables.items():
        table.createOrReplaceTempView(f"star_{name}")
    return spark.sql(
        """select l.a_id, r.b_id from star_a l
        join star_relation f on f.a = l.a join star_b r on f.b = r.b
        where f.begin <= least(l.t, r.t)
        and (f.end is null or greatest(l.t, r.t) < f.end)
        and r.t between l.t - interval 6 seconds and l.t + interval 9 seconds"""
    ).collect()


def streams(spark: SparkSession, folder: Path, **options: Any) -> list[DataFrame]:  # noqa: ANN401
    found = []
    for name in ("a", "b", "changes"):
        table = spark.read.parquet(str(folder / name))
        read = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", 1)
        frame = read.options(**options).parquet(str(folder / name))
        if name != "changes":
            frame = frame.withWatermark("t", "20 seconds")
        found.append(frame)
    return found


def test_a_relation_that_changes(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Stopped and started again twice; changes and rows are used once."""
    left, right, changing = streams(spark, folder)
    frame = sj.star_join(
        *(left, right, changing),
        on=ON,
        within=WITHIN,
        change=("what", "at"),
        delay="20 seconds",
        shards=3,
    ).select("a_id", "b_id")
    for _ in range(2):
        stop_after_a_micro_batch(start(frame, tmp_path))
    found = run(frame, tmp_path)
    theirs = expected(spark, archived(spark, folder))
    assert len(theirs) > 300
    assert same(found.rows, map(tuple, theirs))


@pytest.mark.parametrize("shape", ["components", "relation"])
def test_a_table(shape: str, spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    tables = archived(spark, folder)
    shards = 3
    if shape == "components":
        pairs = [(f"a{n}", f"b{n}") for n in range(KEYS)]
        made = spark.createDataFrame(pairs, "a string, b string")
        none = F.lit(None).cast("timestamp")
        begin = F.lit("2000-01-01").cast("timestamp")
        tables["relation"] = made.withColumn("begin", begin).withColumn("end", none)
    theirs = expected(spark, tables)
    assert len(theirs) > 100
    left, right, _ = streams(spark, folder)
    for frames, name in (((left, right), "stream"), ((tables["a"], tables["b"]), "")):
        frame = sj.star_join(
            *(*frames, tables["relation"]),
            on=ON,
            within=WITHIN,
            valid=("begin", "end"),
            time=("t", "t"),
            shards=shards,
        ).select("a_id", "b_id")
        if name:
            found = run(frame, tmp_path)
            assert same(found.rows, map(tuple, theirs))
            seen = found.total("seen_left", "seen_right")
            # Rows without a key, or without a relation row, are not even shuffled.
            assert seen < 2 * BATCHES * ROWS * (1 if shape == "components" else shards)
        else:
            assert same(map(tuple, frame.collect()), map(tuple, theirs))
            plan = frame._jdf.queryExecution().toString()
            assert f"_by_{shape}_of_at_most_" in plan


def test_a_relation_must_not_hold_the_join_back(
    spark: SparkSession, folder: Path
) -> None:
    left, right, changing = streams(spark, folder)
    settings: dict[str, Any] = {"on": ON, "within": WITHIN}
    marked = changing.withWatermark("at", "1 minute")
    with pytest.raises(ParameterError, match="watermark on 'at'"):
        sj.star_join(left, right, marked, change=("what", "at"), **settings)
    tables = archived(spark, folder)
    with pytest.raises(ParameterError, match="the relation is a table"):
        sj.star_join(left, right, tables["relation"], change=("a", "begin"), **settings)
    with pytest.raises(ParameterError, match="the streams are tables"):
        sj.star_join(*(tables["a"], tables["b"], changing), time=("t", "t"), **settings)
