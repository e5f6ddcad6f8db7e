"""A key with millions of matches, and a micro-batch of millions of rows, in bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Budget, Within

from .budgets import START_US
from .frames import as_streams
from .memory import Peak, watched_workers
from .queries import Counts, drain
from .sources import Sources

pytestmark = pytest.mark.spark

GIGABYTE = 1_000_000_000
PATIENCE_S = 1500
SECONDS = 10
Keys = np.ndarray[Any, np.dtype[np.int64]]
BUDGETS = {"exact": None, "budget": Budget(rows=20_000)}


def side(name: str, keys: Keys) -> pa.Table:
    """Rows in order of time, all within seconds."""
    time = START_US + np.linspace(0, 1_000_000 * SECONDS, keys.size).astype(np.int64)
    times = pa.array(time, pa.timestamp("us", "UTC"))
    return pa.table({"k": keys, f"{name}_time": times, name: np.arange(keys.size)})


def joined(
    spark: SparkSession, folder: Path, keys: tuple[Keys, Keys], budget: Budget | None
) -> tuple[Counts, Peak]:
    """Join two sides of these keys in one micro-batch; the results go nowhere."""
    sides = side("left", keys[0]), side("right", keys[1])
    sources = Sources(folder / "in").write([sides])
    frames = as_streams(sources.read(spark))
    window = Within(before=f"{SECONDS} seconds", after=f"{SECONDS} seconds")
    results = shedjoin.join(*frames, on="k", within=window, budget=budget)
    with watched_workers() as peak:
        counts = drain(results, folder / "checkpoint", PATIENCE_S).observed()[0]
    said = f"{counts['matched']} results of {2 * len(keys[0])} rows: {peak}"
    print(said, flush=True)  # noqa: T201  (the figure is of interest)
    return counts, peak


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("rows", "limit"),
    [
        pytest.param(2000, GIGABYTE, id="4M"),
        pytest.param(9000, GIGABYTE, id="81M", marks=pytest.mark.long),
    ],
)
def test_one_hot_key(
    rows: int, limit: int, budget: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Every row of one side meets every row of the other."""
    keys = np.full(rows, 7)
    counts, peak = joined(spark, tmp_path, (keys, keys), BUDGETS[budget])
    assert counts["matched"] == rows**2
    assert 0 < peak.anonymous < limit


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("rows", "limit"),
    [
        pytest.param(1_000_000, GIGABYTE, id="1M", marks=pytest.mark.long),
        pytest.param(10_000_000, GIGABYTE, id="10M", marks=pytest.mark.long),
    ],
)
def test_a_large_micro_batch(
    rows: int, limit: int, budget: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Half of the rows come on each side, each with a match at some time (seed 17)."""
    rng = np.random.default_rng(17)
    keys = rng.permutation(rows // 2), rng.permutation(rows // 2)
    counts, peak = joined(spark, tmp_path, keys, BUDGETS[budget])
    assert counts["seen_left"] + counts["seen_right"] == rows
    if BUDGETS[budget] is None:
        assert counts["matched"] == rows // 2
    assert 0 < peak.anonymous < limit
