"""Payload of all types survives; keys of all types join as in Spark's own join."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin

from .frames import MINUTE, TIMES, as_streams, as_tables
from .joins import native_join
from .queries import run, same
from .sources import Sources
from .values import KEY_COLUMNS, KEYS, PAYLOAD, key_table, payload_table, times

pytestmark = pytest.mark.spark


def forget_copies(spark: SparkSession) -> None:
    """Delete the node-local copies of decoded state."""
    for copies in Path(str(spark.conf.get("spark.local.dir"))).glob("*/shedjoin"):
        shutil.rmtree(copies)


def test_payload_survives_the_state_store(spark: SparkSession, tmp_path: Path) -> None:
    left = payload_table()
    names = {name: f"other_{name}" for name in PAYLOAD} | {TIMES[0]: TIMES[1]}
    mirrored = left.rename_columns([names.get(n, n) for n in left.column_names])
    bare = pa.table({"k": [0, 1, 2, 2], "right_time": times(1, 2, 3, 4)})
    right = pa.concat_tables([mirrored, bare], promote_options="default")
    sources = Sources(tmp_path / "in").write([(left, right.slice(0, 2))])
    joined = shedjoin.join(*as_streams(sources.read(spark)), on="k", within=MINUTE)
    run(joined, tmp_path / "out")
    forget_copies(spark)
    sources.write([(left.slice(0, 1), right)], first=1)
    found = run(joined, tmp_path / "out")
    assert found.total("copy_misses") == 2
    tables = as_tables(spark, tmp_path / "in")
    expected = native_join(tables, {"k": "k"}, MINUTE, TIMES)
    assert joined.schema.simpleString() == expected.schema.simpleString()
    assert same(found.rows, map(tuple, expected.collect()))
    assert len(found.rows) == 12


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_any_type(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    Sources(tmp_path).write([(key_table(kind, "left"), key_table(kind, "right"))])
    frames = as_tables(spark, tmp_path)
    found = shedjoin.join(*frames, on="k", within=MINUTE, time=TIMES).collect()
    expected = native_join(frames, {"k": "k"}, MINUTE, TIMES).collect()
    assert same(map(tuple, found), map(tuple, expected))
    assert len(found) >= 4 * len(KEYS[kind][1])


def test_several_keys_under_two_names(spark: SparkSession, tmp_path: Path) -> None:
    pairs = {f"left_{n}": f"right_{n}" for n in range(len(KEY_COLUMNS))}
    on = {"left": [*pairs], "right": [*pairs.values()]}
    batches = []
    for first in (0, 6):
        tables = []
        for side in ("left", "right"):
            columns = {
                f"{side}_{n}": pa.array(items, kind)
                for n, (kind, items) in enumerate(KEY_COLUMNS)
            }
            rows = len(KEY_COLUMNS[0][1])
            seconds = range(first, first + rows)
            columns |= {f"{side}_time": times(*seconds), "id": list(seconds)}
            tables.append(pa.table(columns))
        batches.append((tables[0], tables[1]))
    sources = Sources(tmp_path / "in").write(batches)
    joined = shedjoin.join(*as_streams(sources.read(spark)), on=on, within=MINUTE)
    found = run(joined, tmp_path / "out")
    expected = native_join(as_tables(spark, tmp_path / "in"), pairs, MINUTE, TIMES)
    assert same(found.rows, map(tuple, expected.collect()))
    assert len(found.rows) == 2 * 2 * 6
    assert joined.columns[4:6] == ["left_time", "id_left"]


@pytest.mark.parametrize(
    "value",
    [
        """parse_json('{"a": [1, null]}')""",
        """array(parse_json('{"a": [1, null]}'))""",
        "interval '1 02:03:04.000005' day to second",
        "cast('abc' as char(5))",
        "'abc' collate utf8_lcase",
        "cast(null as void)",
    ],
)
def test_payload_that_parquet_files_do_not_bring(
    value: str, spark: SparkSession
) -> None:
    left = spark.sql(f"select 1 k, timestamp'2024-01-01' left_time, {value} v")
    right = spark.sql("select 1 k, timestamp'2024-01-01' right_time")
    joined = shedjoin.join(left, right, on="k", within=MINUTE, time=TIMES)
    assert joined.schema["v"].dataType == left.schema["v"].dataType
    as_text = "cast(v as string) v"
    expected = left.selectExpr(as_text).collect()
    assert joined.selectExpr(as_text).collect() == expected


def test_event_time_without_a_zone(spark: SparkSession, tmp_path: Path) -> None:
    """Spark has no watermarks on such times, so this is for tables alone."""
    left, right = (
        pa.table({"k": [1, 2], f"{side}_time": times(0, at).cast(pa.timestamp("us"))})
        for side, at in (("left", 100), ("right", 161))
    )
    Sources(tmp_path).write([(left, right)])
    frames = as_tables(spark, tmp_path)
    found = shedjoin.join(*frames, on="k", within=MINUTE, time=TIMES).collect()
    expected = native_join(frames, {"k": "k"}, MINUTE, TIMES).collect()
    assert same(map(tuple, found), map(tuple, expected))
    assert len(found) == 1


@pytest.mark.long
def test_a_union_whose_parts_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    """Spark plans a silent part away, and then knows of no nulls in its columns."""

    def tables(second: int) -> tuple[pa.Table, pa.Table]:
        left = {"k": [1, 2], TIMES[0]: times(second, second), "v": [second, None]}
        return pa.table(left), pa.table({"k": [1], TIMES[1]: times(second)})

    steady = Sources(tmp_path / "steady").write([tables(n) for n in range(10)])
    first = Sources(tmp_path / "first").write([tables(0)])
    left, right = steady.read(spark)
    left = left.withColumn("v", F.coalesce("v", F.lit(0)))
    frames = as_streams((left.unionByName(first.read(spark)[0]), right))
    found = run(shedjoin.join(*frames, on="k", within=MINUTE), tmp_path / "out")
    assert len(found.rows) == 11 * 10
