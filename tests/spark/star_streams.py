"""Two streams and a relation in files, and what Spark SQL makes of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj
from support.related import spark_star_join

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


def write(folder: Path) -> None:
    """Files of both streams and of the changes, in the order of their ages."""
    tables = {name: [stream(name, n) for n in range(BATCHES)] for name in "ab"}
    tables["changes"] = changes()
    for name, parts in tables.items():
        (folder / name).mkdir(parents=True)
        for number, part in enumerate(parts):
            file = folder / name / f"{number}.parquet"
            pq.write_table(part, file)
            os.utime(file, (number, number))  # Spark reads the oldest first


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


def changing_join(
    spark: SparkSession, folder: Path, budget: sj.Budget | None = None
) -> DataFrame:
    """The join of the streams with the changes."""
    frame = spark_star_join(
        *streams(spark, folder),
        on=ON,
        within=WITHIN,
        change=("what", "at"),
        delay="20 seconds",
        options=sj.Options(shards=3),
        budget=budget,
    )
    return frame.select("a_id", "b_id")
