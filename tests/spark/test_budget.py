"""The join under a budget on Spark: the same rows as without an engine, and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Budget, ByCategory, ByRange, MostImportant
from shedjoin.policies import IJoin, Rand
from shedjoin.policies.goals import Goal

from .budgets import locally, on_spark, streams
from .frames import MINUTE, TIMES, as_tables
from .sources import Sources

pytestmark = pytest.mark.spark

PAIR = ("left", "right")
KINDS = {"a": 1.0, "b": 5.0}
GOALS = [
    shedjoin.MostResults(),
    MostImportant(
        (
            ByCategory("left_kind", KINDS, default=0.5),
            ByRange("right_price", [5], [1, 3]),
        )
    ),
    MostImportant(("left_price", None), combine="max", by=IJoin(maturity="1 second")),
]


@pytest.mark.parametrize(
    "keep",
    [GOALS[0], *(pytest.param(goal, marks=pytest.mark.long) for goal in GOALS[1:])],
    ids=["results", "importance", "ijoin"],
)
def test_same_rows_as_without_an_engine(
    keep: Goal, spark: SparkSession, tmp_path: Path
) -> None:
    """Also across a restart in the middle."""
    sent, budget = streams(3, 6), Budget(rows=300)
    found = on_spark(spark, tmp_path, sent, PAIR, budget=budget, keep=keep)
    assert sorted(found.rows) == locally(sent, PAIR, budget=budget, keep=keep)
    for counts in found.observed():
        assert counts["resident_left"] + counts["resident_right"] <= 300
    assert found.total("shed_left", "shed_right") > 3000
    assert found.total("matched") == len(found.rows)


def test_budget_in_bytes(spark: SparkSession, tmp_path: Path) -> None:
    sent, budget = streams(4, 4, big=40_000), Budget(memory="100 kB")
    found = on_spark(spark, tmp_path, sent, PAIR, budget=budget, keep=Rand())
    assert sorted(found.rows) == locally(sent, PAIR, budget=budget, keep=Rand())
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
            options=shedjoin.Options(shards=2),
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
