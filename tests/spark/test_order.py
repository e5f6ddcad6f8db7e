"""The same rows in other files, partitions and orders give the same results."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from local.runs import REPORTED
from support.streams import make_case, tables

from .joins import marked, ours
from .queries import PATIENCE_S, Rows, Run, run, same
from .sources import Sources

pytestmark = pytest.mark.spark

CASE = make_case(2866)


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    order = list(range(table.num_rows))
    random.Random(seed).shuffle(order)
    return table.take(pa.array(order, pa.int64()))


def join_again(
    spark: SparkSession, folder: Path, files: int, partitions: int | None
) -> Run:
    batches = [
        (shuffled(left, files), shuffled(right, files)) for left, right in tables(CASE)
    ]
    sources = Sources(folder / "in", files).write(batches)
    left, right = marked(CASE, sources.read(spark))
    if partitions is not None:
        left, right = left.repartition(partitions), right.repartition(partitions + 2)
    return run(ours(CASE, (left, right)), folder / "out")


@pytest.fixture(scope="module")
def usual(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("usual")
    sources = Sources(folder / "in").write(tables(CASE))
    return run(ours(CASE, marked(CASE, sources.read(spark))), folder / "out")


MORE = ((1, 3), (3, None), (5, None))


@pytest.mark.parametrize(
    ("files", "partitions"),
    [
        (5, 4),
        *(pytest.param(*each, marks=pytest.mark.long) for each in MORE),
    ],
)
def test_files_and_partitions(
    files: int, partitions: int | None, usual: Run, spark: SparkSession, tmp_path: Path
) -> None:
    found = join_again(spark, tmp_path, files, partitions)
    assert same(found.rows, usual.rows)
    assert len(found.rows) == 64
    assert [{n: batch[n] for n in REPORTED} for batch in found.observed()] == [
        {n: batch[n] for n in REPORTED} for batch in usual.observed()
    ]


def test_a_micro_batch_computed_twice(
    usual: Run, spark: SparkSession, tmp_path: Path
) -> None:
    """Two actions on one micro-batch run the operator twice from the same state."""
    sources = Sources(tmp_path / "in").write(tables(CASE))
    counted: dict[int, int] = {}
    rows: dict[int, Rows] = {}

    def keep(frame: DataFrame, number: int) -> None:
        counted[number] = frame.count()
        rows[number] = list(map(tuple, frame.collect()))

    joined = ours(CASE, marked(CASE, sources.read(spark)))
    query = (
        joined.writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S)
    assert counted == {number: len(batch) for number, batch in rows.items()}
    assert same([row for batch in rows.values() for row in batch], usual.rows)
