"""The optimum of archives on Spark is the one that is found here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from experiments.star_streaming.streams import drawn
from shedjoin.errors import ColumnError, ParameterError
from shedjoin.lab.offline import StarArchive, StarOptimum, star_join, star_optimum
from shedjoin.lab.offline.search import Search
from shedjoin.types import IntArray

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def on_spark(spark: SparkSession, archive: StarArchive) -> StarArchive:
    """The archive as DataFrames, its rows in another order."""
    left, right, relation = (
        spark.createDataFrame(table.take(np.random.default_rng(1).permutation(rows)))
        for table in (archive.left, archive.right, archive.relation)
        for rows in [table.num_rows]
    )
    return replace(archive, left=left, right=right, relation=relation)


def in_order(archive: StarArchive) -> StarArchive:
    """Streams are by time; sums of importances are rounded by the order of matches."""
    facts = archive.relation.sort_by([("a", "ascending"), ("b", "ascending")])
    return replace(archive, relation=facts)


def told(best: StarOptimum) -> list[Any]:
    return [best.parts, best.left.to_pydict(), best.right.to_pydict()]


@pytest.mark.parametrize(
    ("window", "options"),
    [
        (10, {"rows": 4}),
        (10, {"rows": (3, 2), "most": "results", "discipline": "probe_then_insert"}),
        (6, {"rows": 4, "prefilter": "relation"}),
        (30, {"rows": 4}),
    ],
)
def test_equals_the_optimum_that_is_found_here(
    spark: SparkSession,
    window: int,
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shedjoin.lab.spark import star_archive

    asked: list[int] = []
    searched = star_archive._searched

    def counted(archive: StarArchive, pieces: list[Search]) -> list[IntArray]:
        asked.append(len(pieces))
        return searched(archive, pieces)

    monkeypatch.setattr(star_archive, "_LEAST_ROWS", 50)
    monkeypatch.setattr(star_archive, "_searched", counted)
    archive = in_order(drawn(3, rows=1500, window=window))
    expected = star_optimum(archive, **options)
    there = on_spark(spark, archive)
    assert told(star_optimum(there, **options)) == told(expected)
    assert star_join(there) == star_join(archive)
    assert asked[0] >= 2  # both sides
    if window == 10:
        assert asked[0] > 4  # and stretches of time


def test_shards_are_tasks_of_their_own(spark: SparkSession) -> None:
    archive = in_order(drawn(4, rows=600))
    left, right = (
        table.append_column("shard", pa.array(np.arange(len(table)) // 7 % 3))
        for table in (archive.left, archive.right)
    )
    archive = replace(archive, left=left, right=right, shard="shard")
    there = on_spark(spark, archive)
    assert told(star_optimum(there, rows=2)) == told(star_optimum(archive, rows=2))


def test_a_stream_here_and_one_there(spark: SparkSession) -> None:
    archive = drawn(5, rows=300)
    mixed = replace(archive, right=spark.createDataFrame(archive.right))
    assert told(star_optimum(mixed, rows=4)) == told(star_optimum(archive, rows=4))


def test_says_what_it_needs(spark: SparkSession) -> None:
    archive = on_spark(spark, drawn(6, rows=200, window=20))
    with pytest.raises(ColumnError, match="no column 'when'"):
        star_optimum(replace(archive, time="when"), rows=2)
    stream = spark.readStream.format("rate").load()
    with pytest.raises(
        ParameterError, match=r"right is a stream.*\nFix: .*spark\.read"
    ):
        star_optimum(replace(archive, right=stream), rows=2)


def test_tasks_refuse_as_the_driver_does(spark: SparkSession) -> None:
    """Without a prefilter there are too many ways to choose from a long window."""
    archive = on_spark(spark, drawn(7, rows=400, window=200))
    with pytest.raises(ParameterError, match=r"^There are too many memory states"):
        star_optimum(archive, rows=40, prefilter="none")
