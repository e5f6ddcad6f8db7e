"""Joins by predicates give what Spark SQL gives for all combinations of rows."""

from __future__ import annotations

import math
import os
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from docs.pages import blocks
from shedjoin.errors import ParameterError
from support.asked import asked

from .queries import run, same, stop_after_a_micro_batch

pytestmark = pytest.mark.spark

START_US = 1_700_000_000_000_000
ROWS, BATCHES, KEEP_S = 45, 3, {"a": 4, "b": 9, "c": 6}
ODD = [math.nan, math.inf, -math.inf, -0.0, None, 1e308, -1e308]
BAND = sj.Band("x", 0.5)
CELLS = sj.Cells([-2.0, 0.0, 0.5], pieces=[1, 3, 1, 2])


def rows_of(name: str, number: int) -> pa.Table:
    """Rows of five seconds; values lie on the borders of cells, and some are odd."""
    rng = np.random.default_rng(["abc".index(name), number])
    time = START_US + rng.integers(5_000_000 * number, 5_000_000 * (number + 1), ROWS)
    x: list[Any] = (rng.integers(-12, 13, ROWS) / 2).tolist()
    x[: len(ODD)] = ODD
    columns = {
        "t": pa.array(time, pa.timestamp("us", "UTC")),
        "x": pa.array(x, pa.float64()),
        "k": rng.integers(0, 4, ROWS),
        "s": rng.choice(["a", "B", "ä", ""], ROWS),
        "id": np.arange(ROWS) + ROWS * number,
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("predicates")
    for name in "abc":
        (made / name).mkdir()
        for number in range(BATCHES):
            file = made / name / f"{number}.parquet"
            pq.write_table(rows_of(name, number), file)
            os.utime(file, (number, number))  # Spark reads the oldest first
    return made


def tables(spark: SparkSession, folder: Path, names: str) -> dict[str, DataFrame]:
    return {name: spark.read.parquet(str(folder / name)) for name in names}


def expected(frames: dict[str, DataFrame], condition: str) -> list[tuple[Any, ...]]:
    """Every combination of rows within the window that meets a condition."""
    aliased = [frame.alias(name) for name, frame in frames.items()]
    latest = f"greatest({', '.join(f'{name}.t' for name in frames)})"
    inside = [
        f"{latest} <= {name}.t + interval {KEEP_S[name]} seconds" for name in frames
    ]
    joined = reduce(DataFrame.crossJoin, aliased)
    found = joined.where(" and ".join([condition, *inside]))
    return list(map(tuple, found.select(*(f"{n}.id" for n in frames)).collect()))


def every(names: str, condition: str) -> str:
    """A condition on each pair of streams."""
    pairs = combinations(names, 2)
    return " and ".join(condition.format(a, b) for a, b in pairs)


NEAR = "abs({0}.x - {1}.x) <= 0.5"
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "band": (BAND, NEAR, {"shards": 5}),
    "split cells": (BAND, NEAR, {"shards": 3, "cells": CELLS}),
    "key and band": (["k", BAND], "{0}.k = {1}.k and " + NEAR, {"shards": 3}),
    "greater": (
        [sj.Where("a.x", ">", "b.x"), sj.Where("a.s", "<=", "b.s")],
        "",
        {"shards": 3},
    ),
    "function": (
        [
            sj.Where(lambda one, other: (one + other) % 3 == 0, "a.id", "b.k"),
            sj.Where("a.x", "=", "b.x"),
        ],
        "",
        {"shards": 2},
    ),
}
WHERE = {
    "greater": "a.x > b.x and a.s <= b.s",
    "function": "(a.id + b.k) % 3 = 0 and a.x = b.x",
}
LINKED = {"c": " and b.k = c.k and a.s != c.s"}


def given(case: str, names: str) -> tuple[Any, str, dict[str, Any]]:
    on, condition, settings = CASES[case]
    if condition:
        return on, every(names, condition), settings
    condition = WHERE[case]
    if names == "abc":
        on = [*on, sj.Where("b.k", "=", "c.k"), sj.Where("a.s", "!=", "c.s")]
        condition += LINKED["c"]
    return on, condition, settings


def joined(frames: dict[str, DataFrame], on: Any, **settings: Any) -> DataFrame:  # noqa: ANN401
    within = {name: f"{KEEP_S[name]} seconds" for name in frames}
    return sj.multijoin(frames, on=on, within=within, **asked(settings))


@pytest.mark.parametrize("names", ["ab", "abc"])
@pytest.mark.parametrize("case", CASES)
def test_tables(case: str, names: str, spark: SparkSession, folder: Path) -> None:
    on, condition, settings = given(case, names)
    frames = tables(spark, folder, names)
    result = joined(frames, on, time=dict.fromkeys(names, "t"), **settings)
    theirs = expected(frames, condition)
    assert len(theirs) > 30
    ours = result.select(*(f"id_{name}" for name in names)).collect()
    assert same(map(tuple, ours), theirs)


def streams(
    spark: SparkSession, folder: Path, written: dict[str, DataFrame]
) -> dict[str, DataFrame]:
    return {
        name: spark.readStream.schema(frame.schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        .withWatermark("t", "1 minute")
        for name, frame in written.items()
    }


@pytest.mark.parametrize(
    "case", [pytest.param("split cells", marks=pytest.mark.long), "greater"]
)
def test_streams_restarted(
    case: str, spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    on, condition, settings = given(case, "abc")
    written = tables(spark, folder, "abc")
    frames = streams(spark, folder, written)
    columns = [f"id_{name}" for name in "abc"]
    first = joined(frames, on, **settings).select(*columns)
    stop_after_a_micro_batch(first, tmp_path)
    found = run(joined(frames, on, **settings).select(*columns), tmp_path)
    assert same(found.rows, expected(written, condition))


def test_two_sides_by_name(spark: SparkSession, folder: Path) -> None:
    """Of a join of two streams, also with a gap between them."""
    left, right = tables(spark, folder, "ab").values()
    result = sj.join(
        left,
        right.withColumnRenamed("x", "y"),
        on=sj.Band({"left": "X", "right": "y"}, 0.5),
        within=sj.Within(before="-1 second", after="3 seconds"),
        time=("t", "t"),
        options=sj.Options(shards=4),
    )
    theirs = left.alias("l").crossJoin(right.alias("r"))
    theirs = theirs.where(
        "abs(l.x - r.x) <= 0.5 and r.t between l.t + interval 1 second "
        "and l.t + interval 3 seconds"
    )
    ours = result.select("id_left", "id_right").collect()
    assert same(map(tuple, ours), map(tuple, theirs.select("l.id", "r.id").collect()))


def test_the_plan_says_how_rows_find_their_shards(
    spark: SparkSession, folder: Path
) -> None:
    def plan(on: Any) -> str:  # noqa: ANN401
        frames = tables(spark, folder, "ab")
        result = joined(frames, on, time=dict.fromkeys("ab", "t"), shards=2)
        return str(result._jdf.queryExecution().toString())

    assert plan("k").count("pack_rows_by_key") > 1
    assert "pack_rows_by_cell" in plan(BAND)
    assert "pack_copies_by_cell" in plan(BAND)
    where = plan(sj.Where("a.x", "<", "b.x"))
    assert "pack_rows_by_content" in where
    assert "pack_copies_by_shard" in where


def test_where_alone_asks_for_the_number_of_shards(
    spark: SparkSession, folder: Path
) -> None:
    frames = tables(spark, folder, "ab")
    with pytest.raises(ParameterError, match="copied to every shard"):
        joined(frames, sj.Where("a.x", "<", "b.x"), time=dict.fromkeys("ab", "t"))


@pytest.mark.long
def test_a_throttle_restarted(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Stopped and started again, it looks at the same residents.

    Without a trigger interval a part of it is not known, so that only the message says
    how much is done.
    """
    written = tables(spark, folder, "ab")
    frames = streams(spark, folder, written)

    def harvested(name: str) -> tuple[DataFrame, Path]:
        control = sj.Control(tmp_path / name / "control")
        if not control.sent():
            control.send(throttle={"share": 0.4})
        settings = {"budget": sj.Budget(cpu=0.5), "control": control, "shards": 2}
        result = joined(frames, BAND, cells=CELLS, **settings)
        return result.select("id_a", "id_b"), tmp_path / name

    steady = run(*harvested("steady"))
    frame, home = harvested("stopped")
    stop_after_a_micro_batch(frame, home)
    stopped = run(*harvested("stopped"))
    whole = expected(written, every("ab", NEAR))
    assert 0 < len(steady.rows) < 0.9 * len(whole)
    assert set(steady.rows) <= set(whole)
    assert same(stopped.rows, steady.rows)
    assert 0 < steady.total("looked") < steady.total("looked_exact")
    found = steady.total("measured")
    told = found / (found + steady.total("missed"))
    assert told == pytest.approx(len(steady.rows) / len(whole), abs=0.25)


def test_the_page(spark: SparkSession, tmp_path: Path) -> None:
    """What the page shows runs, and gives what Spark SQL gives."""
    tables = {
        side: rows_of(name, 0).rename_columns(["t", "price", "k", "s", "id"])
        for side, name in (("left", "a"), ("right", "b"))
    }
    given: dict[str, Any] = {"history": tables["left"], "folder": tmp_path / "control"}
    for side, table in tables.items():
        (tmp_path / side).mkdir()
        pq.write_table(table, tmp_path / side / "0.parquet")
        read = spark.read.parquet(str(tmp_path / side))
        source = spark.readStream.schema(read.schema).parquet(str(tmp_path / side))
        given[side] = source.withWatermark("t", "1 minute")
    theirs = spark.createDataFrame(tables["left"]).alias("l")
    theirs = theirs.crossJoin(spark.createDataFrame(tables["right"]).alias("r"))
    theirs = theirs.where("abs(l.price - r.price) <= 0.5 and r.t >= l.t")
    rows = list(map(tuple, theirs.select("l.id", "r.id").collect()))
    for number, block in enumerate(blocks("docs/how-to/join-by-distance.md")):
        exec(block, given)  # noqa: S102  (the page's own code)
        found = given["near"].select("id_left", "id_right")
        assert same(run(found, tmp_path / str(number)).rows, rows)
