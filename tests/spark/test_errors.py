"""Wrong use: the class of the error, the value shown, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Budget, MostImportant, Within
from shedjoin.errors import (
    ColumnError,
    ColumnTypeError,
    ParameterError,
    ShedjoinError,
)
from support.asked import asked

from .frames import MINUTE, empty_stream

pytestmark = pytest.mark.spark

LEFT = "k int, left_time timestamp, v int"
RIGHT = "k int, right_time timestamp, w int"
TYPES = {"on": {"left": "k", "right": "right_time"}}
Make = Callable[[SparkSession, Path], DataFrame]


def stream(columns: str, time: str | None) -> Make:
    """Make a stream of these columns, with a watermark if ``time`` is given."""

    def make(spark: SparkSession, folder: Path) -> DataFrame:
        frame = empty_stream(spark, folder, columns)
        return frame if time is None else frame.withWatermark(time, "1 minute")

    return make


def table(columns: str) -> Make:
    return lambda spark, _: spark.createDataFrame([], columns)


def twice_marked(spark: SparkSession, folder: Path) -> DataFrame:
    frame = stream(LEFT, "left_time")(spark, folder)
    return frame.withColumn("copied_time", F.col("left_time"))


def windowed(spark: SparkSession, folder: Path) -> DataFrame:
    frame = stream(LEFT, "left_time")(spark, folder)
    return frame.groupBy("k", F.window("left_time", "1 minute")).count()


def joined(spark: SparkSession, folder: Path) -> DataFrame:
    left, right = (make(spark, folder) for make in (GOOD_LEFT, GOOD_RIGHT))
    return shedjoin.join(left, right, on="k", within=Within(after="1 minute"))


def joined_by_time(spark: SparkSession, folder: Path) -> DataFrame:
    left, right = (make(spark, folder) for make in (GOOD_LEFT, GOOD_RIGHT))
    return shedjoin.join(left, right, on="k", within="1 minute", event_time="both")


GOOD_LEFT = stream(LEFT, "left_time")
GOOD_RIGHT = stream(RIGHT, "right_time")

WRONG: dict[str, tuple[Make, Make, dict[str, Any], type[ShedjoinError], str, str]] = {
    "no watermark on the left": (
        *(stream(LEFT, None), GOOD_RIGHT, {}, ColumnError),
        "the left stream has no watermark",
        'call left.withWatermark("left_time", "10 minutes") first.',
    ),
    "a join without an event time": (
        *(joined, GOOD_RIGHT, {}, ColumnError),
        "the left stream has no watermark",
        'pass event_time="matched_at" to the join that it comes from',
    ),
    "one time for both": (
        *(GOOD_LEFT, GOOD_RIGHT, {"time": "left_time"}, ColumnError),
        "the right stream has no column 'left_time'",
        "use one of its columns: 'k', 'right_time', 'w'.",
    ),
    "a table of pandas": (
        *(GOOD_LEFT, lambda *_: pd.DataFrame({"k": [1]}), {}, ParameterError),
        "the right stream is a pandas DataFrame, not a DataFrame of Spark",
        "shedjoin.local.join",
    ),
    "a path of messages": (
        *(GOOD_LEFT, GOOD_RIGHT, {"control": "/steer"}, ParameterError),
        "control='/steer' is not a folder of messages",
        "write control=shedjoin.Control('/steer')",
    ),
    "a text as importance": (
        stream("k int, left_time timestamp, name string", "left_time"),
        GOOD_RIGHT,
        {"budget": Budget(rows=9), "keep": MostImportant("name")},
        *(ColumnTypeError, "the column 'name' of the left stream"),
        'ByCategory("name", {...})',
    ),
    "the name of the first join": (
        *(joined_by_time, GOOD_RIGHT, {}, ParameterError),
        "name='shedjoin' is also the name of the join that a stream comes from",
        'pass another one, e.g. name="second"',
    ),
    "an outer join": (
        *(GOOD_LEFT, GOOD_RIGHT, {"how": "left", "budget": Budget(rows=9)}),
        *(ParameterError, "how='left' asks for rows without a partner"),
        'write how="inner"',
    ),
    "columns that are not by stream": (
        *(GOOD_LEFT, GOOD_RIGHT, {"on": {"k": "w"}}, ParameterError),
        "on={'k': 'w'} does not name the streams",
        "on={'left': 'k', 'right': 'w'}",
    ),
    "an event time without a name": (
        *(GOOD_LEFT, GOOD_RIGHT, {"event_time": True}, ParameterError),
        "event_time=True is not a name",
        'pass event_time="matched_at"',
    ),
    "a table of pyarrow": (
        *(GOOD_LEFT, lambda *_: pa.table({"k": [1]}), {}, ParameterError),
        "the right stream is a pyarrow Table, not a DataFrame of Spark",
        "shedjoin.local.join",
    ),
    "a split for three": (
        *(GOOD_LEFT, GOOD_RIGHT),
        {"budget": Budget(rows=9, split=(0.2, 0.3, 0.5))},
        *(ParameterError, "has 3 parts for 2 streams", "give 2 parts"),
    ),
    "no watermark on the right": (
        *(GOOD_LEFT, stream(RIGHT, None), {}, ColumnError),
        "the right stream has no watermark",
        'call right.withWatermark("right_time", "10 minutes") first.',
    ),
    "a watermark on another column": (
        *(GOOD_LEFT, GOOD_RIGHT, {"time": ("v", "right_time")}, ColumnTypeError),
        "the event time 'v' of the left stream is of type int",
        "cast it to a timestamp, before withWatermark if it has one",
    ),
    "no time for tables": (
        *(table(LEFT), table(RIGHT), {}, ColumnError),
        "the left table does not say which column is its event time",
        'name one by stream: time={"left": "left_time", ...}.',
    ),
    "several event times": (
        *(twice_marked, GOOD_RIGHT, {}, ColumnError),
        "the left stream has several event-time columns: ['left_time', 'copied_time']",
        'name one by stream: time={"left": "left_time", ...}.',
    ),
    "event time of a window": (
        *(windowed, GOOD_RIGHT, {}, ColumnTypeError),
        "the event time 'window' of the left stream is of type struct",
        "cast it to a timestamp, before withWatermark",
    ),
    "time that is no timestamp": (
        *(table(LEFT), table(RIGHT), {"time": ("v", "right_time")}, ColumnTypeError),
        "the event time 'v' of the left stream is of type int",
        "cast it to a timestamp",
    ),
    "missing column": (
        *(GOOD_LEFT, GOOD_RIGHT, {"on": "id"}, ColumnError),
        "the left stream has no column 'id'",
        "use one of its columns: 'k', 'left_time', 'v'; if the streams call it",
    ),
    "missing on the right": (
        *(GOOD_LEFT, GOOD_RIGHT, {"on": {"left": "k", "right": "v"}}, ColumnError),
        "the right stream has no column 'v'",
        "use one of its columns: 'k', 'right_time', 'w'.",
    ),
    "no key": (
        *(GOOD_LEFT, GOOD_RIGHT, {"on": []}, ParameterError),
        "on=[] names no key columns",
        'pass on="id"',
    ),
    "types that do not join": (
        *(GOOD_LEFT, GOOD_RIGHT, TYPES, ColumnTypeError),
        "key 'k' of the left stream is of type int, key 'right_time' of the right",
        'cast one of them, e.g. right.withColumn("right_time", ',
    ),
    "a map as key": (
        stream("m map<int,int>, left_time timestamp", "left_time"),
        stream("m map<int,int>, right_time timestamp", "right_time"),
        *({"on": "m"}, ColumnTypeError, "key 'm' is of type map<int,int>"),
        "join by another column",
    ),
    "a stream with a table": (
        *(GOOD_LEFT, table(RIGHT), {}, ParameterError),
        "'left' is a stream and 'right' is a table",
        "read both with readStream, or both with read.",
    ),
    "not a window": (
        *(GOOD_LEFT, GOOD_RIGHT, {"within": 5}, ParameterError),
        "5 is not a duration",
        "pass a timedelta or text",
    ),
    "no shards": (
        *(GOOD_LEFT, GOOD_RIGHT, {"shards": 0}, ParameterError),
        "shards=0) is not a count",
        "leave it out: on Spark it is then spark.sql.shuffle.partitions.",
    ),
    "shards as text": (
        *(GOOD_LEFT, GOOD_RIGHT, {"shards": "4"}, ParameterError),
        "shards='4') is not a count",
        "leave it out: on Spark it is then spark.sql.shuffle.partitions.",
    ),
    "names that collide": (
        stream(f"{LEFT}, u int, u_l int", "left_time"),
        stream(f"{RIGHT}, u int", "right_time"),
        *({"suffixes": ("_l", "_r")}, ColumnError),
        "the result would have several columns 'u_l'",
        "rename one of them, or pass suffixes other than ('_l', '_r').",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use(name: str, spark: SparkSession, tmp_path: Path) -> None:
    left, right, options, kind, problem, fix = WRONG[name]
    frames = left(spark, tmp_path / "left"), right(spark, tmp_path / "right")
    settings: dict[str, Any] = {"on": "k", "within": MINUTE, **options}
    with pytest.raises(kind) as caught:
        shedjoin.join(*frames, **asked(settings))
    shown, _, mend = str(caught.value).partition("\nFix: ")
    assert problem in shown
    assert fix in mend


def test_an_expression_as_key(spark: SparkSession, tmp_path: Path) -> None:
    frames = GOOD_LEFT(spark, tmp_path / "left"), GOOD_RIGHT(spark, tmp_path / "right")
    with pytest.raises(ParameterError, match="names no key columns") as caught:
        shedjoin.join(*frames, on=frames[0]["k"] == frames[1]["k"], within=MINUTE)  # type: ignore[arg-type]
    assert 'Where("left.x", "<", "right.y")' in caught.value.fix


def test_groups_that_are_expressions(spark: SparkSession, tmp_path: Path) -> None:
    results = joined_by_time(spark, tmp_path)
    counts = {"n": F.count("*")}
    with pytest.raises(ParameterError, match="does not name columns of the results"):
        shedjoin.aggregate(results, window="1 minute", aggregates=counts, by=F.col("v"))  # type: ignore[arg-type]


def test_an_empty_window() -> None:
    with pytest.raises(ParameterError, match="is an empty window"):
        Within(before="1 minute", after="-2 minutes")
