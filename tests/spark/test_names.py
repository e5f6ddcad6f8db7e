"""Names of the result's columns, and columns with odd names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin.errors import ColumnError

from .frames import MINUTE, TIMES

pytestmark = pytest.mark.spark


def columns(spark: SparkSession, left: str, right: str, **options: object) -> list[str]:
    """Columns of the join of two empty tables."""
    frames = [spark.createDataFrame([], schema) for schema in (left, right)]
    settings: dict[str, object] = {"on": "k", "within": MINUTE, "time": TIMES}
    settings |= options
    return shedjoin.join(*frames, **settings).columns  # type: ignore[arg-type]


TINY = shedjoin.Budget(rows=10)
LEFT = "k int, left_time timestamp"
RIGHT = "right_time timestamp, k int"


def test_the_key_comes_first_and_once(spark: SparkSession) -> None:
    found = columns(spark, f"a int, {LEFT}", f"b int, {RIGHT}")
    assert found == ["k", "a", "left_time", "b", "right_time"]


def test_columns_of_both_sides_get_suffixes(spark: SparkSession) -> None:
    found = columns(spark, f"{LEFT}, v int", f"{RIGHT}, v string")
    assert found == ["k", "left_time", "v_left", "right_time", "v_right"]
    pair = ("_shown", "_clicked")
    found = columns(spark, f"{LEFT}, v int", f"{RIGHT}, v int", suffixes=pair)
    assert found == ["k", "left_time", "v_shown", "right_time", "v_clicked"]


def test_keys_of_two_names_are_both_kept(spark: SparkSession) -> None:
    left, right = "id int, left_time timestamp", "key int, right_time timestamp"
    found = columns(spark, left, right, on={"left": "id", "right": "key"})
    assert found == ["id", "left_time", "key", "right_time"]
    crossed = columns(
        spark, f"{left}, key int", f"{right}, id int", on={"left": "id", "right": "key"}
    )
    assert crossed == [
        *("id_left", "left_time", "key_left"),
        *("key_right", "right_time", "id_right"),
    ]


def test_case_matters_where_it_does_to_spark(spark: SparkSession) -> None:
    left, right = (
        "K int, Left_Time timestamp, V int",
        "k int, right_time timestamp, v int",
    )
    found = columns(spark, left, right, keep=shedjoin.MostImportant("v"), budget=TINY)
    assert found == ["K", "Left_Time", "V_left", "right_time", "v_right"]
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(ColumnError, match="the left stream has no column 'k'"):
            columns(spark, left, right)
        found = columns(
            spark,
            left,
            right,
            on={"left": "K", "right": "k"},
            time=("Left_Time", TIMES[1]),
        )
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert found == ["K", "Left_Time", "V", "k", "right_time", "v"]


def test_the_same_name_for_both_times(spark: SparkSession) -> None:
    schema = "k int, t timestamp"
    assert columns(spark, schema, schema, time=("t", "t")) == ["k", "t_left", "t_right"]


@pytest.mark.parametrize("name", ["a b", "a.b", "a`b", "\u00e9", "shard", "results"])
def test_odd_names(name: str, spark: SparkSession) -> None:
    """In a key that is hashed, an event time and a column of the payload."""
    time, number = f"{name} time", f"{name} number"
    frame = spark.createDataFrame(
        [("x", datetime(2024, 1, 1, tzinfo=UTC), 1)], [name, time, number]
    )
    joined = shedjoin.join(frame, frame, on=name, within=MINUTE, time=(time, time))
    assert joined.columns == [
        *(name, f"{time}_left", f"{number}_left"),
        *(f"{time}_right", f"{number}_right"),
    ]
    assert [(row[0], row[2], row[4]) for row in joined.collect()] == [("x", 1, 1)]
