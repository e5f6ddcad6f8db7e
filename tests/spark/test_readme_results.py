"""The example of the README, on Spark: what is kept is a part of the exact result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import shedjoin
from shedjoin import Budget, MostImportant, Sample, Within, local
from shedjoin.lab.quality import cluster_interval

from .queries import Rows, run_both
from .sources import Sources

pytestmark = [pytest.mark.spark, pytest.mark.long]

BATCHES = local.clicks(impressions=50_000, batches=12, seed=1)
SMALL, AMPLE = Budget(rows=2000), Budget(rows=60_000)
PAIR = ("ad_id", "shown_us", "bid", "clicked_us")


@pytest.fixture(scope="module")
def streams(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFrame, DataFrame]:
    folder = tmp_path_factory.mktemp("readme")
    shown, clicked = Sources(folder).write(BATCHES).read(spark)
    return (
        shown.withWatermark("shown_at", "10 seconds"),
        clicked.withWatermark("clicked_at", "10 seconds"),
    )


@pytest.fixture(scope="module")
def exact() -> Rows:
    """All pairs, by pandas; an impression has at most one click."""
    shown, clicked = (
        pa.concat_tables(side).to_pandas() for side in zip(*BATCHES, strict=True)
    )
    pairs = shown.merge(clicked, on="ad_id")
    wait = pairs.clicked_at - pairs.shown_at
    pairs = pairs[(wait >= pd.Timedelta(0)) & (wait <= pd.Timedelta("15 minutes"))]
    for name in ("shown", "clicked"):
        micros = pairs[f"{name}_at"].astype("datetime64[us, UTC]").astype("int64")
        pairs = pairs.assign(**{f"{name}_us": micros})
    return list(pairs[list(PAIR)].itertuples(index=False, name=None))


def joined(
    streams: tuple[DataFrame, DataFrame], budget: Budget, keep: MostImportant | Sample
) -> DataFrame:
    """The join of the README, with times as numbers."""
    window = Within(after="15 minutes")
    found = shedjoin.join(*streams, on="ad_id", within=window, budget=budget, keep=keep)
    times = {f"{name}_us": f"unix_micros({name}_at)" for name in ("shown", "clicked")}
    columns = [f"{times.get(name, name)} AS {name}" for name in PAIR]
    more = ["_weight", "_cluster"] if isinstance(keep, Sample) else []
    return found.selectExpr(*columns, *more)


def both(
    streams: tuple[DataFrame, DataFrame], budget: Budget, folder: Path
) -> tuple[Rows, Rows]:
    """Results by importance and by lot."""
    important, sample = run_both(
        joined(streams, budget, MostImportant("bid")),
        joined(streams, budget, Sample()),
        folder,
    )
    for found in (important, sample):
        assert found.total("late_left", "late_right") == 0
        for counts in found.observed():
            resident = counts["resident_left"] + counts["resident_right"]
            assert resident <= (budget.rows or 0)
    return important.rows, sample.rows


def test_a_part_of_the_exact_result(
    streams: tuple[DataFrame, DataFrame], exact: Rows, tmp_path: Path
) -> None:
    important, sample = both(streams, SMALL, tmp_path)
    true = set(exact)
    for rows in (important, sample):
        pairs = [row[:4] for row in rows]
        assert len(pairs) == len(set(pairs)) < len(true)
        assert set(pairs) <= true
    revenue = sum(row[2] for row in exact)
    assert len(important) > 0.5 * len(true)
    assert sum(row[2] for row in important) > 0.7 * revenue
    weight, cluster, bid = (
        np.array([row[place] for row in sample]) for place in (4, 5, 2)
    )
    assert weight.min() >= 1
    assert weight.max() > 2
    said = cluster_interval(weight, cluster, bid)
    assert said.low < revenue < said.high
    assert said.high - said.low < 0.3 * revenue


def test_all_of_it_with_an_ample_budget(
    streams: tuple[DataFrame, DataFrame], exact: Rows, tmp_path: Path
) -> None:
    assert len(exact) == 4974
    important, sample = both(streams, AMPLE, tmp_path)
    assert sorted(important) == sorted(exact)
    assert sorted(row[:4] for row in sample) == sorted(exact)
    assert {row[4] for row in sample} == {1.0}
