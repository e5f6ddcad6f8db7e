"""An old checkpoint under another join, or under other settings of Spark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Within
from support.asked import asked

from .four_streams import BATCHES, WINDOW, Streams, native_join
from .frames import MINUTE, as_streams
from .queries import Run, run, same
from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark

PARTITIONS = "spark.sql.shuffle.partitions"
ZONE = "spark.sql.session.timeZone"
WIDE = "spark.sql.execution.arrow.useLargeVarTypes"
KEYS = pa.array(range(100), pa.int64())


def batch(second: int) -> tuple[pa.Table, pa.Table]:
    """A hundred rows a side; times also inside of other values."""
    at = times(*[second] * 100)
    nested = {
        "listed": pa.ListArray.from_arrays(pa.array(range(101), pa.int32()), at),
        "mapped": pa.MapArray.from_arrays(pa.array(range(101), pa.int32()), KEYS, at),
        "paired": pa.StructArray.from_arrays([at, at], ["a", "b"]),
    }
    left, right = (
        pa.table({"k": KEYS, f"{side}_time": at, side: KEYS} | columns)
        for side, columns in (("left", nested), ("right", {}))
    )
    return left, right


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    before = str(spark.conf.get(name))
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, before)


def joined(spark: SparkSession, folder: Path, **options: Any) -> DataFrame:  # noqa: ANN401
    """The join of the folder's files, of two shards unless told otherwise."""
    frames = as_streams(Sources(folder / "in").read(spark))
    settings: dict[str, Any] = {"on": "k", "within": MINUTE, **options}
    return shedjoin.join(*frames, **asked(settings))


@pytest.fixture(scope="module")
def old(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one micro-batch run through, and a second one to come."""
    folder = tmp_path_factory.mktemp("old")
    Sources(folder / "in").write([batch(1)])
    assert len(run(joined(spark, folder), folder).rows) == 100
    Sources(folder / "in").write([batch(2)], first=1)
    return folder


@pytest.fixture
def folder(old: Path, tmp_path: Path) -> Path:
    """A copy of what the old query left, to go on from."""
    for part in ("checkpoint", "results"):
        shutil.copytree(old / part, tmp_path / part)
    return tmp_path


def go_on(spark: SparkSession, old: Path, folder: Path, **options: Any) -> Run:  # noqa: ANN401
    """Go on from the copy, with the input of the old query."""
    return run(joined(spark, old, **options), folder)


def test_unchanged(spark: SparkSession, old: Path, folder: Path) -> None:
    assert len(go_on(spark, old, folder).rows) == 300


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        pytest.param(
            {"within": Within(before="1 minute", after="2 minutes")},
            "rows of the left stream wait 60 s in it, and 120 s now",
            id="window",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"on": {"left": ["k", "left"], "right": ["k", "right"]}},
            "the left stream has the key columns ['k'] in it and ['k', 'left'] now",
            id="keys",
            marks=pytest.mark.long,
        ),
        pytest.param({"shards": 3}, "it has 2 shards, the query has 3", id="shards"),
    ],
)
def test_another_join(
    changed: dict[str, Any], named: str, spark: SparkSession, old: Path, folder: Path
) -> None:
    with pytest.raises(StreamingQueryException) as caught:
        go_on(spark, old, folder, **changed)
    assert_refused(str(caught.value), named)


def test_other_shuffle_partitions(spark: SparkSession, old: Path, folder: Path) -> None:
    with (
        setting(spark, PARTITIONS, "3"),
        pytest.raises(StreamingQueryException) as caught,
    ):
        go_on(spark, old, folder)
    assert_refused(str(caught.value), "the query has 3")
    assert "follows spark.sql.shuffle.partitions unless" in str(caught.value)


def assert_refused(text: str, named: str) -> None:
    assert "StateMismatchError: the checkpoint was written by another join" in text
    assert "Fix: restore the old arguments, or start with a new" in text
    assert named in text


@pytest.mark.parametrize(
    "partitions", [3, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 4))]
)
def test_other_shuffle_partitions_and_the_old_shards(
    partitions: int, spark: SparkSession, old: Path, folder: Path
) -> None:
    """What the error tells the user to do."""
    with setting(spark, PARTITIONS, str(partitions)):
        assert len(go_on(spark, old, folder, shards=2).rows) == 300


def test_another_time_zone(spark: SparkSession, old: Path, folder: Path) -> None:
    with setting(spark, ZONE, "America/New_York"):
        assert len(go_on(spark, old, folder).rows) == 300


@pytest.mark.long
def test_text_with_wide_offsets(spark: SparkSession, tmp_path: Path) -> None:
    """Enough micro-batches to have segments of both settings merged."""
    words = pa.array([f"word {n}" for n in range(100)])
    sources = Sources(tmp_path / "in")
    for second in range(1, 19):
        left, right = batch(second)
        sources.write([(left.append_column("text", words), right)], first=second)
        if second % 6 == 0:
            with setting(spark, WIDE, str(second == 12).lower()):
                frames = as_streams(sources.read(spark))
                found = run(shedjoin.join(*frames, on="k", within=MINUTE), tmp_path)
    assert len(found.rows) == 100 * 18 * 18
    assert found.observed()[-1]["segments"] < 2 * 2 * 18


@pytest.mark.long
def test_a_column_that_cannot_be_null_any_more(
    spark: SparkSession, old: Path, tmp_path: Path
) -> None:
    """Enough micro-batches to have old and new segments merged."""
    sources = Sources(tmp_path / "in").write([batch(1)])
    run(joined(spark, tmp_path), tmp_path)
    sources.write([batch(second) for second in range(2, 10)], first=1)
    left, right = as_streams(sources.read(spark))
    left = left.withColumn("left", F.coalesce("left", F.lit(0)))
    found = run(shedjoin.join(left, right, on="k", within=MINUTE), tmp_path)
    assert len(found.rows) == 100 * 9 * 9
    assert found.observed()[-1]["segments"] < 2 * 2 * 9


def test_other_names_and_delays(spark: SparkSession, old: Path, folder: Path) -> None:
    frames = as_streams(Sources(old / "in").read(spark), delay="2 minutes")
    other = shedjoin.join(
        *frames, on="k", within=MINUTE, suffixes=("_a", "_b"), name="other"
    )
    assert len(run(other, folder).rows) == 300


@pytest.mark.long
def test_a_budget_comes_and_goes(spark: SparkSession, tmp_path: Path) -> None:
    streams = Streams(tmp_path / "in", spark)
    ample = shedjoin.Budget(rows=100_000)
    stages = ((0, 3, None), (3, 6, ample), (6, BATCHES, None))
    for first, end, budget in stages:
        frames = streams.write(first, end).read()
        joined = shedjoin.join(
            frames["a"], frames["b"], on="k", within=WINDOW, budget=budget
        )
        found = run(joined.select("id_a", "id_b"), tmp_path / "ours")
        assert found.total("shed_left", "shed_right") == 0
    frames = streams.read()
    natively = native_join(frames["a"], frames["b"], "t_a", "t_b")
    expected = run(natively.select("id_a", "id_b"), tmp_path / "native")
    assert len(expected.rows) > 500
    assert same(found.rows, expected.rows)
