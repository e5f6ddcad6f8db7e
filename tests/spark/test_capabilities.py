"""Every supported cell of the capability table runs on Spark, as a batch query.

What needs a running query, control messages and the time of micro-batches, has tests of
its own: ``test_control.py``, ``test_predicates.py`` and ``test_chains.py``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from shedjoin.spec.capabilities.kinds import By, Feature, JoinKind
from shedjoin.spec.capabilities.table import TABLE
from support.asked import asked as gathered
from support.features import CALLED, PAIR, RELATION, stream
from support.related import spark_relation_join, spark_star_join

pytestmark = pytest.mark.spark

RUNNING = {Feature.CONTROL}
"""Asked of running queries alone; so are budgets of time."""
SHARDS = {"shards": 2}


def frame(
    spark: SparkSession, seed: int, key: str = "k", value: str = "v"
) -> DataFrame:
    """One of the small streams as a table."""
    return spark.createDataFrame(pa.concat_tables(stream(seed, key, value)))


def joined(spark: SparkSession, kind: JoinKind, asked: dict[str, Any]) -> DataFrame:
    """The join of a kind, asked for with some features."""
    banded: Any = sj.Band("v", 0.1) if "cells" in asked else ["k", sj.Band("v", 0.3)]
    pair, more = gathered({**PAIR, **SHARDS, **asked}), gathered({**SHARDS, **asked})
    left, right = frame(spark, 1), frame(spark, 2, value="w")
    if kind is JoinKind.KEYS:
        return sj.join(left, right, on="k", **pair)
    if kind is JoinKind.PREDICATES:
        return sj.join(left, frame(spark, 2), on=banded, **pair)
    if kind in (JoinKind.SEVERAL_KEYS, JoinKind.SEVERAL_PREDICATES):
        frames = {name: frame(spark, seed) for seed, name in enumerate("abc", 1)}
        on: Any = "k"
        if kind is JoinKind.SEVERAL_PREDICATES:
            on = banded if "cells" in asked else ["k", sj.Where("a.v", "<", "b.v")]
        return sj.multijoin(frames, on=on, within="5 seconds", time="at", **more)
    relation = spark.createDataFrame(RELATION)
    if kind is JoinKind.THROUGH:
        other = frame(spark, 2, key="r", value="w")
        on = (("k", "k"), ("r", "r"))
        return spark_star_join(
            left, other, relation, on=on, **{**PAIR, **SHARDS, **asked}
        )
    return spark_relation_join(left, relation, on="k", time="at", **asked)


def supported(kind: JoinKind) -> list[Feature]:
    """Features that a kind of join has, of those that a batch query can be asked."""
    found = []
    for feature, asked in CALLED.items():
        timed = asked.get("budget") is not None and asked["budget"].cpu is not None
        if isinstance(TABLE[feature][kind], By) and not timed:
            found.append(feature)
    return [feature for feature in found if feature not in RUNNING]


@pytest.mark.parametrize("kind", JoinKind, ids=lambda kind: kind.name)
def test_what_is_supported_runs(kind: JoinKind, spark: SparkSession) -> None:
    for feature in supported(kind):
        found = joined(spark, kind, CALLED[feature]).count()
        assert found > 0, feature
