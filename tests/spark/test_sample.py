"""Samples of the join on Spark: intervals that hold, and the rows of the local run."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Avg, Budget, Count, Sample, Sum, Within
from shedjoin.errors import ColumnError, ParameterError, ShedjoinError
from shedjoin.policies import EqCluster, PpsCluster, Uniform
from shedjoin.sampling.aggregates import Aggregate
from support.asked import asked

from .budgets import Tables, locally, on_spark, streams
from .frames import MINUTE, TIMES, Frames, as_streams, as_tables, empty_stream
from .joins import native_join
from .queries import Run, run
from .sources import Sources

pytestmark = pytest.mark.spark

A_MINUTE_US = 60_000_000
START_US = 28_333_334 * A_MINUTE_US
MINUTES, MINUTES_A_BATCH, ROWS_A_MINUTE, KEYS = 108, 12, 1000, 1000
WITHIN = Within(before="3 minutes", after="3 minutes")
BUDGET = Budget(rows=ROWS_A_MINUTE * 6 // 10)  # a tenth of three minutes of both sides
Columns = dict[str, npt.NDArray[Any]]


def clicks(seed: int) -> Tables:
    """Keys by Zipf's law; rows up to ten seconds out of order, also across batches."""
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, KEYS + 1) ** -0.4
    rows = ROWS_A_MINUTE * MINUTES
    sides = []
    for name in TIMES:
        time = START_US + rng.integers(0, MINUTES * A_MINUTE_US, rows)
        columns = {
            "k": rng.choice(KEYS, rows, p=frequency / frequency.sum()),
            name: pa.array(time, pa.timestamp("us", "UTC")),
            f"{name}_price": rng.uniform(1.0, 9.0, rows),
        }
        arrived = np.argsort(time + rng.integers(0, 10_000_000, rows))
        sides.append(pa.table(columns).take(arrived))
    size = ROWS_A_MINUTE * MINUTES_A_BATCH
    cuts = range(0, rows, size)
    left, right = ([side.slice(at, size) for at in cuts] for side in sides)
    return list(zip(left, right, strict=True))


def estimated(sample: DataFrame) -> DataFrame:
    price = "right_time_price"
    asked: dict[str, Aggregate] = {
        "total": Sum(price),
        "mean": Avg(price),
        "n": Count(),
    }
    return shedjoin.aggregate(sample, window="1 minute", aggregates=asked)


def exactly(frames: Frames) -> dict[datetime, tuple[float, ...]]:
    """The aggregates of every window, over Spark's own join."""
    joined = native_join(frames, {"k": "k"}, WITHIN, TIMES)
    windows = F.window(F.greatest(*TIMES), "1 minute")
    price = F.col("right_time_price")
    totals = joined.groupBy(windows).agg(F.sum(price), F.avg(price), F.count("*"))
    return {row[0].start: tuple(row[1:]) for row in totals.collect()}


def compared(spark: SparkSession, folder: Path, seed: int) -> tuple[Run, Columns]:
    """Estimates of a stream, with the exact values as ``total_exact`` and so on."""
    sources = Sources(folder / "in").write(clicks(seed))
    streamed = as_streams(sources.read(spark), delay="20 seconds")
    estimates = estimated(
        shedjoin.join(*streamed, on="k", within=WITHIN, budget=BUDGET, keep=Sample())
    )
    found = run(estimates, folder / "out")
    exact = exactly(as_tables(spark, folder / "in"))
    by_name = dict(zip(estimates.columns, zip(*found.rows, strict=True), strict=True))
    starts = [window.start for window in by_name.pop("window")]
    assert len(starts) == len(set(starts))
    columns = {name: np.array(values) for name, values in by_name.items()}
    truth = np.array([exact[start] for start in starts])
    for place, name in enumerate(("total", "mean", "n")):
        columns[f"{name}_exact"] = truth[:, place]
    return found, columns


@pytest.mark.long
def test_intervals_hold_the_exact_aggregates(
    spark: SparkSession, tmp_path: Path
) -> None:
    """With a tenth of the memory, and by a stream of windows that loses no row."""
    found, columns = compared(spark, tmp_path, seed=1)
    assert sum(found.dropped()) == 0
    assert found.total("late_left", "late_right") == 0
    assert columns["rows"].sum() > 0.9 * found.total("matched")  # but the last window
    assert columns["n"].size >= 100
    assert columns["trusted"].mean() >= 0.85
    for name, width in (("total", 0.15), ("mean", 0.06), ("n", 0.15)):
        low, exact, high = (
            columns[f"{name}_{end}"] for end in ("low", "exact", "high")
        )
        assert np.mean((low <= exact) & (exact <= high)) >= 0.9, name
        assert np.median((high - low) / exact) / 2 < width, name
        assert np.mean(columns[name] / exact) == pytest.approx(1.0, abs=0.03), name
    # Without weights all of them would miss, and by far.
    assert (columns["rows"] < columns["n_low"]).all()
    assert np.median(columns["rows"] / columns["n_exact"]) < 0.25
    # The query itself says how well it does.
    whole = columns["n_exact"].sum() * MINUTES / columns["n"].size
    assert found.total("weight") == pytest.approx(whole, rel=0.05)
    assert 0 < found.total("checks_held") <= found.total("checks")
    assert found.total("variance_pps") < found.total("variance_eq")
    assert found.total("variance_pps") < found.total("variance_uniform")


SAMPLED = ("left", "right", "_weight", "_cluster")


@pytest.mark.parametrize(
    "keep",
    [
        Sample(),
        pytest.param(Sample(of=("left_price", None)), marks=pytest.mark.long),
        pytest.param(Sample(by=Uniform(seed=5)), marks=pytest.mark.long),
    ],
    ids=["best", "by value", "uniform"],
)
def test_same_rows_and_weights_as_without_an_engine(
    keep: Sample, spark: SparkSession, tmp_path: Path
) -> None:
    """Also across a restart in the middle."""
    sent = streams(3, 6)
    options: dict[str, Any] = {"budget": Budget(rows=300), "keep": keep}
    found = on_spark(spark, tmp_path, sent, SAMPLED, **options)
    assert sorted(found.rows) == locally(sent, SAMPLED, **options)
    weights = [row[2] for row in found.rows]
    assert max(weights) > 2 * min(weights) >= 2
    assert found.total("matched") == len(found.rows)
    assert found.total("weight") == pytest.approx(sum(weights))
    for counts in found.observed():
        assert counts["resident_left"] + counts["resident_right"] <= 300


def test_samples_of_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Every scheme estimates the size of the join that it is a sample of."""
    Sources(tmp_path).write(streams(4, 2))
    frames = as_tables(spark, tmp_path)
    exact = native_join(frames, {"k": "k"}, MINUTE, TIMES).count()
    settings: dict[str, Any] = {"on": "k", "within": MINUTE, "time": TIMES}
    for by in (EqCluster(), PpsCluster(), Uniform()):
        sample = shedjoin.join(
            *frames,
            budget=Budget(rows=400),
            keep=Sample(by=by),
            options=shedjoin.Options(shards=2),
            **settings,
        )
        said = (
            F.min("_weight"),
            F.sum("_weight"),
            F.count("*"),
            F.countDistinct("_cluster"),
        )
        least, total, rows, clusters = sample.agg(*said).collect()[0]
        assert least >= 1
        assert total == pytest.approx(exact, rel=0.3), by
        assert 400 < clusters <= rows < 0.8 * exact


WRONG: dict[str, tuple[str, dict[str, Any], type[ShedjoinError], str, str]] = {
    "a weight of its own": (
        *("_weight double", {}, ColumnError),
        *("the result of a sample has a column '_weight' of its own", "rename the col"),
    ),
    "a cluster of its own": (
        *("_cluster long", {}, ColumnError),
        *(
            "the result of a sample has a column '_cluster' of its own",
            "rename the col",
        ),
    ),
    "shed first": (
        *("v int", {"discipline": "shed_then_join"}, ParameterError),
        *("discipline='shed_then_join' leaves out results", '"probe_then_insert"'),
    ),
    "a value that no stream has": (
        *("v int", {"keep": Sample(of="bid")}, ColumnError),
        *("the column 'bid', which no stream has", "left has ['k', 'left_time', 'v']"),
    ),
    "a value of no stream": (
        *("v int", {"keep": Sample(of=7)}, ParameterError),
        *("which does not say of which stream it is", "importance of some streams"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use(case: str, spark: SparkSession, tmp_path: Path) -> None:
    column, options, kind, problem, fix = WRONG[case]
    left, right = (
        empty_stream(spark, tmp_path / name, f"k int, {name} timestamp, {more}")
        for name, more in zip(TIMES, (column, "w int"), strict=True)
    )
    settings: dict[str, Any] = {"budget": BUDGET, "keep": Sample(), **options}
    with pytest.raises(kind) as raised:
        shedjoin.join(
            *as_streams((left, right)), on="k", within=MINUTE, **asked(settings)
        )
    shown, _, mend = str(raised.value).partition("\nFix: ")
    assert problem in shown
    assert fix in mend


def test_rows_without_their_weights(spark: SparkSession) -> None:
    """They are known for a sample; and a column of a stream is no weight."""
    frames = [
        spark.sql(f"select 1 k, timestamp'2024-01-01' {name}, 2.0 {weight}")
        for name, weight in zip(TIMES, ("_weight", "w"), strict=True)
    ]
    exact = shedjoin.join(*frames, on="k", within=MINUTE, time=TIMES)
    plain = shedjoin.aggregate(exact, window="1 day", aggregates={"n": Count()})
    assert plain.columns == ["window", "n"]
    renamed = frames[0].withColumnRenamed("_weight", "v"), frames[1]
    sample = shedjoin.join(
        *renamed, on="k", within=MINUTE, time=TIMES, budget=BUDGET, keep=Sample()
    )
    asked: dict[str, Any] = {"window": "1 day", "aggregates": {"n": Count()}}
    assert "n_low" in shedjoin.aggregate(sample, **asked).columns
    with pytest.raises(ColumnError, match="no column '_weight'"):
        shedjoin.aggregate(sample.select(*TIMES, "k"), **asked)
