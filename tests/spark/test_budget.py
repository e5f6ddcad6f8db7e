"""The join under a budget on Spark: the same rows as without an engine, and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Budget, Histogram, Lookup, MostImportant
from shedjoin.core.policy import Policy
from shedjoin.local.runner import join as local_join
from shedjoin.policies import IJoin, Rand
from shedjoin.policies.goals import Goal

from .frames import MINUTE, TIMES, as_streams, as_tables
from .queries import Run, run
from .sources import Sources

pytestmark = pytest.mark.spark

ROWS = 400
START_US = 1_700_000_000_000_000
Tables = list[tuple[pa.Table, pa.Table]]


def streams(seed: int, batches: int, *, big: int = 0) -> Tables:
    """Rows in order of time, no two at the same; now and then a large one."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(batches):
        time = START_US + 20_000_000 * number + np.arange(2 * ROWS) * 25_000
        rng.shuffle(time)
        sides = []
        for side, name in enumerate(("left", "right")):
            note = ["x" * 40] * ROWS
            if big:
                note[int(rng.integers(ROWS))] = "y" * big
            columns = {
                "k": rng.zipf(1.5, ROWS) % 50,
                TIMES[side]: pa.array(
                    np.sort(time[side::2]), pa.timestamp("us", "UTC")
                ),
                name: np.arange(ROWS) + ROWS * number,
                f"{name}_note": note,
                f"{name}_price": rng.gamma(2.0, 3.0, ROWS),
                f"{name}_kind": rng.choice(["a", "b", "c"], ROWS).tolist(),
            }
            sides.append(pa.table(columns))
        made.append((sides[0], sides[1]))
    return made


def on_spark(
    spark: SparkSession, folder: Path, sent: Tables, budget: Budget, keep: Goal | Policy
) -> Run:
    """Run half of the micro-batches, stop, and go on with the rest."""
    half = len(sent) // 2
    sources = Sources(folder / "in").write(sent[:half])
    frames = as_streams(sources.read(spark), delay="10 seconds")
    joined = shedjoin.join(*frames, on="k", within=MINUTE, budget=budget, keep=keep)
    slim = joined.select("left", "right")
    before = run(slim, folder / "out")
    sources.write(sent[half:], first=half)
    after = run(slim, folder / "out")
    return Run(after.rows, before.progress + after.progress)


def locally(sent: Tables, budget: Budget, keep: Goal | Policy) -> list[tuple[int, int]]:
    results = local_join(
        sent,
        on="k",
        within=MINUTE,
        time=TIMES,
        lateness=("10 seconds", "10 seconds"),
        shards=2,
        budget=budget,
        keep=keep,
    ).results
    pairs = zip(results["left"].to_pylist(), results["right"].to_pylist(), strict=True)
    return sorted(pairs)


KINDS = {"a": 1.0, "b": 5.0}
GOALS = [
    shedjoin.MostResults(),
    MostImportant(
        (Lookup("left_kind", KINDS, default=0.5), Histogram("right_price", [5], [1, 3]))
    ),
    MostImportant(("left_price", None), combine="max", by=IJoin(maturity="1 second")),
]


@pytest.mark.parametrize("keep", GOALS, ids=["results", "importance", "ijoin"])
def test_same_rows_as_without_an_engine(
    keep: Goal, spark: SparkSession, tmp_path: Path
) -> None:
    """Also across a restart in the middle."""
    sent, budget = streams(3, 6), Budget(rows=300)
    found = on_spark(spark, tmp_path, sent, budget, keep)
    assert sorted(found.rows) == locally(sent, budget, keep)
    for counts in found.observed():
        assert counts["resident_left"] + counts["resident_right"] <= 300
    assert found.total("shed_left", "shed_right") > 3000
    assert found.total("matched") == len(found.rows)


def test_budget_in_bytes(spark: SparkSession, tmp_path: Path) -> None:
    sent, budget = streams(4, 4, big=40_000), Budget(memory="100 kB")
    found = on_spark(spark, tmp_path, sent, budget, Rand())
    assert sorted(found.rows) == locally(sent, budget, Rand())
    assert found.rows
    sizes = [counts["state_bytes"] for counts in found.observed()]
    assert max(sizes) <= 100_000
    assert max(sizes) > 30_000


def test_an_expression_as_importance_and_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    sent = streams(5, 2)
    Sources(tmp_path / "in").write(sent)
    joined = {
        name: shedjoin.join(
            *as_tables(spark, tmp_path / "in"),
            on="k",
            within=MINUTE,
            time=TIMES,
            budget=Budget(rows=100),
            keep=MostImportant((source, None)),
            shards=2,
        )
        for name, source in (
            ("column", "left_price"),
            ("expression", F.col("left_price") * 2),
            ("opposite", 1 / F.col("left_price")),
        )
    }
    prices = {
        name: [row.left_price for row in frame.select("left_price").collect()]
        for name, frame in joined.items()
    }
    assert sorted(prices["column"]) == sorted(prices["expression"])
    assert np.mean(prices["column"]) > 1.2 * np.mean(prices["opposite"])
