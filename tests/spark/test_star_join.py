"""The join through a relation gives what Spark SQL gives for the three tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.local.shard import MemoryBlobs
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spark.columns import relation_of, stream_of
from shedjoin.spark.relation import related
from shedjoin.state.blobs import Commit
from support.related import spark_star_join, star_join

from .processes import count, kill, running, wait_for_end, wait_until
from .queries import run, same, stop_after_a_micro_batch
from .star_streams import (
    BATCHES,
    KEYS,
    ON,
    ROWS,
    WITHIN,
    archived,
    changes,
    changing_join,
    expected,
    stream,
    streams,
    write,
)

pytestmark = pytest.mark.spark

CHILD = "spark.child_star"
NTZ = "timestamp_ntz"
AMPLE = sj.Budget(rows=100_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("star")
    write(made)
    return made


def test_a_relation_that_changes(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Stopped and started again; changes and rows are used once.

    A budget that suffices comes and goes meanwhile.
    """
    for budget in (None, AMPLE, None):
        stop_after_a_micro_batch(changing_join(spark, folder, budget), tmp_path)
    found = run(changing_join(spark, folder, AMPLE), tmp_path)
    theirs = expected(spark, archived(spark, folder))
    assert len(theirs) > 300
    assert same(found.rows, map(tuple, theirs))


@pytest.mark.long
@pytest.mark.parametrize("kills", [2, 6])
def test_killed_and_restarted(
    kills: int, spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """The driver is killed while a micro-batch runs; nothing is lost or doubled."""
    (tmp_path / "in").symlink_to(folder)
    for _ in range(kills):
        with running(tmp_path, CHILD) as query:
            done = count(tmp_path, "offsets")
            wait_until(lambda: count(tmp_path, "offsets") > done, query, tmp_path)  # noqa: B023
            assert query.poll() is None, "the query ended before it was killed"
            kill(query)
    with running(tmp_path, CHILD) as query:
        wait_for_end(query, tmp_path)
    found = json.loads((tmp_path / "results.json").read_text())
    theirs = expected(spark, archived(spark, folder))
    assert same(map(tuple, found), map(tuple, theirs))


@pytest.mark.parametrize(
    "shape", [pytest.param("components", marks=pytest.mark.long), "relation"]
)
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
    odd = F.expr("make_interval(1, 2, 3)")  # pyarrow has no such type: it is not asked
    tables["relation"] = tables["relation"].withColumn("un`used", odd)
    left, right, _ = streams(spark, folder)
    for frames, name in (((left, right), "stream"), ((tables["a"], tables["b"]), "")):
        frame = spark_star_join(
            *(*frames, tables["relation"]),
            on=ON,
            within=WITHIN,
            valid=("begin", "end"),
            time=("t", "t"),
            options=sj.Options(shards=shards),
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


@pytest.mark.parametrize(
    "changing", [True, pytest.param(False, marks=pytest.mark.long)]
)
def test_a_budget(
    changing: bool, spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Stopped and started again, it keeps the same rows as without Spark."""
    left, right, made = streams(spark, folder)
    budget, keep = sj.Budget(rows=50), sj.MostImportant("a_id", by=sj.policies.Dgl())
    settings: dict[str, Any] = {"on": ON, "within": WITHIN, "shards": 1}
    settings |= {"change": ("what", "at"), "delay": "20 seconds"}
    batches: list[Any] = [(stream("a", n), stream("b", n)) for n in range(BATCHES)]
    relation = changes()[0].slice(0, 0)
    frame = made
    if changing:
        batches = [(*two, own) for two, own in zip(batches, changes(), strict=True)]
    else:
        frame = archived(spark, folder)["relation"]
        relation = frame.toArrow()
        times = {"change": None, "valid": ("begin", "end")}
        settings |= times
    here = star_join(
        batches,
        relation,
        time=("t", "t"),
        lateness="20 seconds",
        budget=budget,
        keep=keep,
        **settings,
    )
    limited = spark_star_join(left, right, frame, budget=budget, keep=keep, **settings)
    limited = limited.select("a_id", "b_id")
    stop_after_a_micro_batch(limited, tmp_path)
    found = run(limited, tmp_path)
    ids = (here.results[name].to_pylist() for name in ("a_id", "b_id"))
    assert same(found.rows, list(zip(*ids, strict=True)))
    assert any(here.report.shed)
    exact = Counter(map(tuple, expected(spark, archived(spark, folder))))
    assert 0 < len(found.rows) < exact.total()
    assert Counter(found.rows) <= exact
    for counts in found.observed():
        assert counts["resident_left"] + counts["resident_right"] <= 50


def test_a_relation_must_not_hold_the_join_back(
    spark: SparkSession, folder: Path
) -> None:
    left, right, changing = streams(spark, folder)
    settings: dict[str, Any] = {"on": ON, "within": WITHIN}
    marked = changing.withWatermark("at", "1 minute")
    with pytest.raises(ParameterError, match="watermark on 'at'"):
        spark_star_join(left, right, marked, change=("what", "at"), **settings)
    tables = archived(spark, folder)
    with pytest.raises(ParameterError, match="the relation is a table"):
        spark_star_join(
            left, right, tables["relation"], change=("a", "begin"), **settings
        )
    local_time = tables["relation"].withColumn("begin", F.col("begin").cast(NTZ))
    with pytest.raises(ColumnTypeError, match="both must be timestamps with a time"):
        spark_star_join(left, right, local_time, valid=("begin", "end"), **settings)
    with pytest.raises(
        ParameterError, match="the relation is a stream, and the streams are tables"
    ):
        spark_star_join(
            *(tables["a"], tables["b"], changing), time=("t", "t"), **settings
        )


def test_another_table_at_a_restart_is_refused(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Rows of before lie in other shards, or were left out."""
    left, right, _ = streams(spark, folder)
    relation = archived(spark, folder)["relation"]
    frames = [
        spark_star_join(
            *(left, right, table),
            on=ON,
            within=WITHIN,
            valid=("begin", "end"),
            options=sj.Options(shards=2),
            budget=budget,
        ).select("a_id", "b_id")
        for table, budget in (
            (relation, None),
            (relation.orderBy(F.desc("b")), AMPLE),
            (relation.limit(9), None),
        )
    ]
    stop_after_a_micro_batch(frames[0], tmp_path)
    stop_after_a_micro_batch(frames[1], tmp_path)
    with pytest.raises(StreamingQueryException, match="stored under another relation"):
        run(frames[2], tmp_path)


def test_columns_of_a_relation_that_changes(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Results contain the columns that the relation names, across a restart."""
    left, right, made = streams(spark, folder)
    told = made.withColumn("note", F.concat("a", F.lit("-"), "b"))
    relation = sj.Relation(
        told,
        left="a",
        right="b",
        change=("what", "at"),
        delay="20 seconds",
        columns="note",
    )
    joined = sj.join(
        left, right, through=relation, within=WITHIN, options=sj.Options(shards=2)
    )
    note = F.col("note") == F.concat("a", F.lit("-"), "b")
    results = joined.select("a_id", "b_id", note.alias("fits"))
    stop_after_a_micro_batch(results, tmp_path)
    found = run(results, tmp_path)
    theirs = expected(spark, archived(spark, folder))
    assert same([row[:2] for row in found.rows], map(tuple, theirs))
    assert all(row[2] for row in found.rows)


def test_a_table_in_another_order_is_the_same(
    spark: SparkSession, folder: Path
) -> None:
    """Also where rows of it differ only in a column that results contain."""
    left, right, _ = streams(spark, folder)
    own = [stream_of(left, "left"), stream_of(right, "right")]
    rows = [("a1", "b1", 1.5), ("a1", "b1", 2.5), ("a2", "b2", None)]
    digests = set()
    for order in (rows, rows[::-1]):
        table = spark.createDataFrame(order, "a string, b string, bid double")
        relation = sj.Relation(table, left="a", right="b", columns="bid")
        asked = Asked(within="1 minute", through=relation)
        spec = join_spec(own, asked, 2, relation_of(table, own[0]))
        _, sent = related(table, spec, [0, 1])
        assert sent is not None
        digests.add(
            sent.opened().of_shard(0).write(Commit(MemoryBlobs(), ""))["digest"]
        )
    assert len(digests) == 1
