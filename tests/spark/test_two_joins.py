"""Joins side by side in one query: each gives what it gives alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin
from shedjoin import Budget
from shedjoin.local.join import join as local_join
from shedjoin.policies import Fifo, IJoin, Policy, Prob
from support.asked import asked

from .budgets import Tables
from .frames import TIMES, Frames, as_streams
from .named_joins import DELAY, PAIR, WINDOW, streams
from .queries import Rows, Run, run, same
from .sources import Sources

pytestmark = pytest.mark.spark

BATCHES = 8
SENT = streams(seed=5, batches=BATCHES)
POLICIES: dict[str, Policy] = {
    "fifo": Fifo(),
    "prob": Prob(),
    "ijoin": IJoin(maturity="1 second"),
}
REUSE = "spark.sql.exchange.reuse"
OPTIONS: dict[str, Any] = {"on": "k", "within": WINDOW, "budget": Budget(rows=300)}


@pytest.fixture(scope="module")
def frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Frames:
    folder = tmp_path_factory.mktemp("two_joins")
    return as_streams(Sources(folder).write(SENT).read(spark), DELAY)


def alone(policy: Policy, sent: Tables = SENT) -> Rows:
    """What a join by this policy gives if there is no other, by the local runner."""
    settings = {"time": TIMES, "lateness": (DELAY, DELAY), "shards": 2, **OPTIONS}
    found = local_join(sent, keep=policy, **asked(settings)).results
    return list(zip(*(found[name].to_pylist() for name in PAIR), strict=True))


def tagged(frames: Frames, tag: str, policy: Policy, name: str) -> DataFrame:
    """A join whose results say where they come from."""
    results = shedjoin.join(*frames, keep=policy, name=name, **asked(OPTIONS))
    return results.select(F.lit(tag).alias("tag"), *PAIR)


def part(found: Run, tag: str) -> Rows:
    """Results of one of the joins."""
    return [row[1:] for row in found.rows if row[0] == tag]


@pytest.mark.long
def test_alone(frames: Frames, tmp_path: Path) -> None:
    """What the others are compared with is what Spark gives, and they differ."""
    found = run(tagged(frames, "fifo", Fifo(), "one"), tmp_path)
    assert same(part(found, "fifo"), alone(Fifo()))
    sizes = {name: len(alone(policy)) for name, policy in POLICIES.items()}
    assert len(set(sizes.values())) == 3, sizes
    assert min(sizes.values()) > 1000, sizes


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(("fifo", "prob"), marks=pytest.mark.long),
        pytest.param(("prob", "ijoin"), marks=pytest.mark.long),
        pytest.param(("ijoin", "fifo"), marks=pytest.mark.long),
    ],
    ids="-".join,
)
def test_two_policies(pair: tuple[str, str], frames: Frames, tmp_path: Path) -> None:
    a, b = (tagged(frames, name, POLICIES[name], name) for name in pair)
    found = run(a.union(b), tmp_path)
    assert len(found.progress) >= BATCHES
    for name in pair:
        assert same(part(found, name), alone(POLICIES[name])), name
        assert found.total("matched", name=name) == len(part(found, name))
        for counts in found.observed(name):
            assert counts["resident_left"] + counts["resident_right"] <= 300


@pytest.mark.long
def test_the_same_join_under_two_names(frames: Frames, tmp_path: Path) -> None:
    a, b = (tagged(frames, name, Prob(), name) for name in ("one", "two"))
    found = run(a.union(b), tmp_path)
    expected = alone(Prob())
    for name in ("one", "two"):
        assert same(part(found, name), expected), name
        assert found.total("matched", name=name) == len(expected)


@pytest.mark.parametrize(
    "reuse", ["true", pytest.param("false", marks=pytest.mark.long)]
)
def test_a_result_used_twice(
    reuse: str, spark: SparkSession, frames: Frames, tmp_path: Path
) -> None:
    """Spark makes two joins of it, and may give both the same shuffled input."""
    spark.conf.set(REUSE, reuse)
    try:
        once = tagged(frames, "once", Prob(), "one")
        found = run(once.union(once), tmp_path)
    finally:
        spark.conf.unset(REUSE)
    assert same(part(found, "once"), alone(Prob()) * 2)
