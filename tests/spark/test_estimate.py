"""Estimates over weighted rows: the formulas, tables and streams, wrong use."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)
from scipy import stats

import shedjoin
from shedjoin import Avg, Count, Sum, Within
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError, ShedjoinError
from shedjoin.sampling.aggregates import Aggregate
from shedjoin.types import FloatArray

from .frames import MINUTE, TIMES, as_streams, as_tables, empty_stream
from .queries import run
from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark

ASKED: dict[str, Aggregate] = {
    "revenue": Sum("price"),
    "n": Count(),
    "sold": Count("price"),
    "mean": Avg("price"),
}
BASE = "t timestamp, _weight double, _cluster long, price double, country string"
Estimates = dict[tuple[Any, ...], dict[str, Any]]


def weighted_table(rows: int, *, growing: bool = True) -> pa.Table:
    """Three minutes of rows; the weights of a cluster grow, some prices are missing."""
    rng = np.random.default_rng(5)
    seconds = np.sort(rng.uniform(0, 180, rows))
    cluster = rng.integers(0, 250, rows)
    price = rng.lognormal(1, 0.5, rows)
    weight = 2.0 + cluster % 3 + (seconds / 60 if growing else 0)
    country = np.array(["at", "de", "li"])[rng.choice(3, rows, p=[0.3, 0.68, 0.02])]
    missing = (rng.random(rows) < 0.2) | (country == "li")
    columns = {
        "t": times(*seconds),
        "_weight": weight,
        "_cluster": cluster,
        "price": pa.array(price, mask=missing),
        "country": country,
    }
    return pa.table(columns)


def estimates(rows: Iterable[tuple[Any, ...]], names: list[str]) -> Estimates:
    """Rows by window and group; the numbers by name."""
    groups = names.index("revenue")
    return {
        (row[0].start.replace(tzinfo=UTC), *row[1:groups]): dict(
            zip(names[groups:], row[groups:], strict=True)
        )
        for row in rows
    }


def collected(frame: DataFrame) -> Estimates:
    return estimates(map(tuple, frame.collect()), frame.columns)


def close(found: Estimates, expected: Estimates) -> bool:
    assert set(found) == set(expected)
    for key, numbers in expected.items():
        for name, number in numbers.items():
            near = number if number is None else pytest.approx(number, rel=1e-6)
            assert found[key][name] == near, (key, name)
    return True


def spread(w: FloatArray, y: FloatArray, cluster: FloatArray) -> FloatArray:
    """Variance of every cluster, pair by pair."""
    found = []
    for one in np.unique(cluster):
        a, b = w[cluster == one], y[cluster == one]
        pairs = np.outer(a, a) - np.sqrt(np.outer(a, a))
        found.append((pairs * np.outer(b, b)).sum())
    return np.array(found)


def interval(value: float, v: FloatArray, over: float = 1.0) -> tuple[float, ...]:
    error = np.sqrt(v.sum()) / over
    half = stats.t.ppf(0.975, v.sum() ** 2 / (v**2).sum()) * error
    return value, error, value - half, value + half


def by_hand(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All estimates of one window and group, as the definitions say."""
    w = np.array([row["_weight"] for row in rows])
    cluster = np.array([row["_cluster"] for row in rows])
    there = np.array([row["price"] is not None for row in rows])
    y = np.array([row["price"] or 0.0 for row in rows])
    some = there.astype(float)
    spreads = {
        "revenue": spread(w, y, cluster),
        "n": spread(w, np.ones(len(w)), cluster),
        "sold": spread(w, some, cluster),
    }
    totals = {"revenue": w @ y, "n": w.sum(), "sold": w @ some}
    found = {name: interval(totals[name], v) for name, v in spreads.items() if v.any()}
    if there.any():
        mean = (w @ y) / (w @ some)
        spreads["mean"] = spread(w, (y - mean) * some, cluster)
        found["mean"] = interval(mean, spreads["mean"], w @ some)
    else:
        found["sold"] = (0.0, 0.0, 0.0, 0.0)
    numbers: dict[str, Any] = {}
    for name in ASKED:
        columns = (name, f"{name}_error", f"{name}_low", f"{name}_high")
        numbers |= dict(zip(columns, found.get(name, (None,) * 4), strict=True))
    numbers["n_low"] = max(numbers["n_low"], len(w))
    numbers["sold_low"] = max(numbers["sold_low"], there.sum())
    fewest = min(v.sum() ** 2 / (v**2).sum() for v in spreads.values() if v.any())
    return numbers | {
        "rows": len(w),
        "clusters": len(set(cluster)),
        "effective_clusters": fewest,
        "trusted": fewest >= 20,
    }


@pytest.mark.parametrize("by", [(), ("country",)], ids=["all", "by country"])
def test_equals_the_definitions(by: tuple[str, ...], spark: SparkSession) -> None:
    table = weighted_table(900)
    found = shedjoin.aggregate(
        spark.createDataFrame(table),
        window="1 minute",
        time="t",
        aggregates=ASKED,
        by=by,
    )
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        window = row["t"].replace(second=0, microsecond=0)
        groups.setdefault((window, *(row[name] for name in by)), []).append(row)
    expected = {key: by_hand(rows) for key, rows in groups.items()}
    assert close(collected(found), expected)
    assert any(numbers["trusted"] for numbers in expected.values())
    assert not by or not all(numbers["trusted"] for numbers in expected.values())


def test_nothing_left_out_is_exact(spark: SparkSession) -> None:
    rows = spark.createDataFrame(weighted_table(300)).withColumn("_weight", F.lit(1))
    found = shedjoin.aggregate(rows, window="1 day", time="t", aggregates=ASKED)
    (numbers,) = collected(found).values()
    exact = rows.agg(F.sum("price"), F.count("*"), F.count("price"), F.avg("price"))
    for name, value in zip(ASKED, exact.collect()[0], strict=True):
        ends = [numbers[f"{name}{end}"] for end in ("", "_low", "_high")]
        assert ends == [pytest.approx(value, rel=1e-12)] * 3
        assert numbers[f"{name}_error"] == 0
    assert numbers["trusted"]
    clusters = rows.select("_cluster").distinct().count()
    assert numbers["effective_clusters"] == numbers["clusters"] == clusters


def test_expressions_and_overlapping_windows(spark: SparkSession) -> None:
    rows = spark.createDataFrame(weighted_table(300, growing=False))
    asked: dict[str, Aggregate] = {
        "revenue": Sum(F.col("price") * 2),
        "half": Avg(F.col("price") / 2),
    }
    found = shedjoin.aggregate(
        rows, window="2 minutes", slide="1 minute", time=F.col("t"), aggregates=asked
    )
    windows = F.window("t", "2 minutes", "1 minute")
    weighted = F.sum(F.col("_weight") * F.col("price"))
    weights = F.sum(F.when(F.col("price").isNotNull(), F.col("_weight")))
    for row in (
        rows.groupBy(windows).agg(2 * weighted, weighted / weights / 2).collect()
    ):
        numbers = collected(found)[(row[0].start.replace(tzinfo=UTC),)]
        assert [numbers["revenue"], numbers["half"]] == pytest.approx(list(row[1:]))


def test_a_stream_gives_what_a_table_gives(spark: SparkSession, tmp_path: Path) -> None:
    table = weighted_table(600)
    late = pa.table(table.slice(0, 1).to_pydict() | {"t": times(900)}, table.schema)
    parts = [table.slice(150 * part, 150) for part in range(4)]
    Sources(tmp_path).write([(part, None) for part in [*parts, late]])
    folder = str(tmp_path / "left")
    read = spark.readStream.schema(BASE).option("maxFilesPerTrigger", 1)
    stream = read.parquet(folder).withWatermark("t", "5 seconds")
    asked: dict[str, Any] = {"window": "1 minute", "aggregates": ASKED, "by": "country"}
    estimated = shedjoin.aggregate(stream, **asked)
    found = run(estimated, tmp_path / "out")
    rows = (
        spark.read.schema(BASE)
        .parquet(folder)
        .where(F.col("t") < times(800)[0].as_py())
    )
    expected = collected(shedjoin.aggregate(rows, time="t", **asked))
    assert close(estimates(found.rows, estimated.columns), expected)
    assert sum(found.dropped()) == 0


def pair_batches() -> list[tuple[pa.Table, pa.Table]]:
    """Ten seconds a micro-batch, out of order by as much; at last the far future."""
    rng = np.random.default_rng(9)
    batches = []
    for number in range(8):
        sides = []
        for name in TIMES:
            rows = 40 if number < 7 else 1
            seconds = 10 * number + rng.uniform(0, 20, rows) if number < 7 else [900.0]
            columns = {"k": rng.integers(0, 25, rows), name: times(*seconds)}
            sides.append(
                pa.table(columns | {f"{name}_price": rng.lognormal(0, 1, rows)})
            )
        batches.append((sides[0], sides[1]))
    return batches


@pytest.mark.long
@pytest.mark.parametrize("time", [None, "left_time"], ids=str)
def test_a_joined_stream_gives_what_joined_tables_give(
    time: str | None,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    """A row that waited is far behind the watermark, and is not late for its window."""
    sources = Sources(tmp_path / "in").write(pair_batches())
    within = Within(before="20 seconds", after="50 seconds")
    asked: dict[str, Any] = {
        "window": "30 seconds",
        "aggregates": {"revenue": Sum("left_time_price"), "n": Count()},
        "time": time,
    }

    def estimated(joined: DataFrame) -> DataFrame:
        weighted = joined.withColumn("_weight", 1.0 + F.col("k") % 4)
        return shedjoin.aggregate(weighted.withColumn("_cluster", F.col("k")), **asked)

    streams = as_streams(sources.read(spark), "10 seconds")
    from_streams = estimated(shedjoin.join(*streams, on="k", within=within))
    found = run(from_streams, tmp_path / "out")
    tables = as_tables(spark, tmp_path / "in")
    joined = shedjoin.join(*tables, on="k", within=within, time=TIMES)
    expected = collected(estimated(joined.where(F.col("k") >= 0)))
    end = datetime.fromtimestamp(1_700_000_000 + 800, UTC)
    expected = {key: row for key, row in expected.items() if key[0] < end}
    assert close(estimates(found.rows, from_streams.columns), expected)
    assert sum(found.dropped()) == 0
    assert len(expected) >= 4
    assert found.total("matched") > 1000


WRONG: dict[str, tuple[str, dict[str, Any], type[ShedjoinError], str, str]] = {
    "no window": (
        *(BASE, {"window": "a while"}, ParameterError),
        *("'a while' is not a duration", '"90 seconds"'),
    ),
    "an empty window": (
        *(BASE, {"window": "0 seconds"}, ParameterError),
        *("window='0 seconds' with slide=None", 'window="1 minute"'),
    ),
    "gaps between windows": (
        *(BASE, {"slide": timedelta(minutes=2)}, ParameterError),
        *("slide=datetime.timedelta", 'slide="5 minutes"'),
    ),
    "nothing to estimate": (
        *(BASE, {"aggregates": {}}, ParameterError),
        *("aggregates={} names no aggregates", '"n": Count()'),
    ),
    "an unknown aggregate": (
        *(BASE, {"aggregates": {"best": "max"}}, ParameterError),
        *(r"aggregates\['best'\]='max' is not an aggregate", 'Sum("price")'),
    ),
    "a name taken": (
        *(BASE, {"aggregates": {"rows": Count()}}, ColumnError),
        *("several columns 'rows'", "rename an aggregate"),
    ),
    "an unknown column": (
        *(BASE, {"aggregates": {"n": Sum("cost")}}, ColumnError),
        *("no column 'cost'", "'price', 'country'"),
    ),
    "a sum of texts": (
        *(BASE, {"aggregates": {"n": Sum("country")}}, ColumnTypeError),
        *("'country' is of type string", 'Count("country")'),
    ),
    "a time that is none": (
        *(BASE, {"time": "price"}, ColumnTypeError),
        *("'price' is of type double", 'cast("timestamp")'),
    ),
    "no time": (
        *(BASE, {"time": None}, ColumnError),
        *("time=None", 'time="clicked_at"'),
    ),
    "a level in per cent": (
        *(BASE, {"level": 95}, ParameterError),
        *("level=95 is not a share", "level=0.95"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use(case: str, spark: SparkSession) -> None:
    columns, changes, kind, problem, fix = WRONG[case]
    asked = {"window": "1 minute", "time": "t", "aggregates": {"n": Count()}}
    with pytest.raises(kind, match=problem) as raised:
        shedjoin.aggregate(spark.createDataFrame([], columns), **(asked | changes))
    assert fix in raised.value.fix


def test_a_stream_needs_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    stream = empty_stream(spark, tmp_path, BASE)
    with pytest.raises(ColumnError, match="no watermark on 't'") as raised:
        shedjoin.aggregate(stream, window="1 hour", time="t", aggregates={"n": Count()})
    assert 'withWatermark("t", "10 minutes")' in raised.value.fix


def test_an_archive_read_as_a_stream_needs_a_watermark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its columns still say what they were in the join; no window would come out."""
    left, right = (
        empty_stream(spark, tmp_path / name, f"k int, {name} timestamp")
        for name in TIMES
    )
    joined = shedjoin.join(*as_streams((left, right)), on="k", within=MINUTE)
    sampled = joined.withColumns({"_weight": F.lit(1.0), "_cluster": F.lit(0)})
    asked: dict[str, Any] = {"window": "1 hour", "aggregates": {"n": Count()}}
    assert shedjoin.aggregate(sampled, **asked).isStreaming
    path = str(tmp_path / "archive")
    spark.createDataFrame([], sampled.schema).write.parquet(path)
    schema = spark.read.parquet(path).schema
    assert schema["left_time"].metadata == sampled.schema["left_time"].metadata != {}
    archive = spark.readStream.schema(schema).parquet(path)
    with pytest.raises(ColumnError, match="no watermark on 'left_time', 'right_time'"):
        shedjoin.aggregate(archive, **asked)
    marked = archive.withWatermark("left_time", "1 minute")
    assert shedjoin.aggregate(marked, **asked).isStreaming
