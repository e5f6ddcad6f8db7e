"""The join of one stream with a relation gives what Spark SQL gives for both tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin import Options
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from support.related import spark_relation_join

from .queries import Rows, run, same, stop_after_a_micro_batch
from .star_streams import BATCHES, ROWS, START_US, archived, streams, write

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("relation")
    write(made)
    return made


def expected(tables: dict[str, DataFrame], condition: str = "true") -> Rows:
    """Rows with the relation rows that are active at their times."""
    tables["a"].createOrReplaceTempView("relation_a")
    tables["relation"].createOrReplaceTempView("relation_f")
    found = tables["a"].sparkSession.sql(
        f"""select l.a_id, f.b from relation_a l join relation_f f on f.a = l.a
        where f.begin <= l.t and (f.end is null or l.t < f.end) and {condition}"""  # noqa: S608
    )
    return [*map(tuple, found.collect())]


def as_known(tables: dict[str, DataFrame]) -> Rows:
    """The same for relation rows that came with a row or before it.

    They come in the micro-batch of their begin, or up to 4 seconds after it.
    """
    came = f"ceil((unix_micros(f.begin) - {START_US}) / 10000000)"
    return expected(tables, f"{came} <= l.a_id div {ROWS}")


def test_a_table(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    """Spark's own join, without state; archived rows are joined in the same way."""
    tables = archived(spark, folder)
    theirs = expected(tables)
    assert len(theirs) > 300
    rows, *_ = streams(spark, folder)
    relation = tables["relation"].withColumnRenamed("a", "A.1")
    for stream in (rows, tables["a"]):
        frame = spark_relation_join(
            *(stream, relation), on={"a": "A.1"}, valid=("begin", "end"), time="t"
        )
        assert frame.columns == ["t", "a", "a_id", "b"]
        frame = frame.select("a_id", "b")
        if stream is rows:
            found = run(frame, tmp_path)
            assert not any(batch["stateOperators"] for batch in found.progress)
            assert same(found.rows, theirs)
        else:
            assert same(map(tuple, frame.collect()), theirs)
    # Without times all rows of a key count, also where both come from one DataFrame.
    other = spark_relation_join(
        tables["a"].select("a"), tables["a"].select("a"), on="a"
    )
    own = tables["a"].groupBy("a").count().where("a is not null")
    assert other.count() == own.agg(F.sum(F.col("count") ** 2)).first()[0]  # type: ignore[index]


def test_a_relation_that_changes(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """A row is joined with the relation as it is known in its micro-batch.

    Stopped and started again twice; the state is the relation alone.
    """
    tables = archived(spark, folder)
    theirs = as_known(tables)
    assert 300 < len(theirs) < len(expected(tables))
    rows, _, changes = streams(spark, folder)
    joined = spark_relation_join(
        *(rows, changes), on="a", change=("what", "at"), options=Options(shards=3)
    )
    assert joined.columns == ["t", "a", "a_id", "b"]
    assert joined.schema["t"].metadata == rows.schema["t"].metadata
    frame = joined.select("a_id", "b")
    for _ in range(2):
        stop_after_a_micro_batch(frame, tmp_path)
    found = run(frame, tmp_path)
    assert same(found.rows, theirs)
    last = found.observed()[-1]
    assert last["relation"] > 10
    assert last["resident_stream"] == last["stored_stream"] == 0
    # The rows came first: what the relation says is no older than they are.
    assert "changes" in found.progress[-1]["sources"][-1]["description"]


def test_results_keep_the_watermark(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Windows over them come out in append mode, and hold all results."""
    rows, _, changes = streams(spark, folder)
    rows = rows.withColumnRenamed("t", "ev.t")  # a name that Spark must be given quoted
    joined = spark_relation_join(
        rows, changes, on="a", change=("what", "at"), options=Options(shards=2)
    )
    counted = joined.groupBy(F.window("`ev.t`", "10 seconds")).count()
    found = run(counted.select("window.start", "count"), tmp_path).rows
    tables = archived(spark, folder)
    start = F.window("t", "10 seconds").start
    windows = dict(map(tuple, tables["a"].select("a_id", start).collect()))
    theirs = Counter(windows[number] for number, _ in as_known(tables))
    assert len(found) >= BATCHES - 3  # the watermark has passed these
    assert {at: theirs[at] for at, _ in found} == dict(found)


def test_wrong_arguments(spark: SparkSession, folder: Path) -> None:
    rows, _, changes = streams(spark, folder)
    tables = archived(spark, folder)
    table, change = tables["relation"], {"change": ("what", "at")}
    plain = spark.readStream.schema(tables["a"].schema).parquet(str(folder / "a"))
    text = F.col("t").cast("string")
    cases: list[tuple[DataFrame, DataFrame, dict[str, Any], type[Exception], str]] = [
        (rows, table, {"on": "x"}, ColumnError, "no column 'x'"),
        (rows, table, {"on": {"a": "begin"}}, ColumnTypeError, "'begin' of the rel"),
        (rows, table, {"on": "a"} | change, ParameterError, "the relation is a table"),
        (tables["a"], changes, {"on": "a"} | change, ParameterError, "are tables"),
        (rows, changes, {"on": "a"}, ParameterError, "neither change= nor valid="),
        (
            *(rows, table, {"on": "a", "valid": ("begin", "end")} | change),
            *(ParameterError, "both say when"),
        ),
        (
            *(rows, changes.withWatermark("at", "1 minute")),
            *({"on": "a"} | change, ParameterError, "watermark on 'at'"),
        ),
        (
            *(tables["a"], table, {"on": "a", "valid": ("begin", "end")}),
            *(ColumnError, "no watermark, and no time="),
        ),
        (
            *(tables["a"].withColumn("t", text), table),
            *({"on": "a", "valid": ("begin", "end"), "time": "t"},),
            *(ColumnTypeError, "'t' of the stream is of type string"),
        ),
        (
            *(rows, table.withColumnRenamed("b", "A_ID"), {"on": "a"}),
            *(ColumnError, "several columns 'A_ID'"),
        ),
        (
            *(rows, changes.withColumn("x", F.array("b")), {"on": "a"} | change),
            *(ColumnTypeError, "rows cannot be told apart"),
        ),
        (
            *(plain, changes, {"on": "a"} | change),
            *(ColumnError, "no watermark"),
        ),
    ]
    for stream, relation, given, error, match in cases:
        with pytest.raises(error, match=match):
            spark_relation_join(stream, relation, **given)
    with pytest.raises(ColumnError, match="no watermark on 't'"):
        spark_relation_join(
            plain,
            changes,
            on="a",
            time="t",
            change=("what", "at"),
            options=Options(shards=2),
        )
