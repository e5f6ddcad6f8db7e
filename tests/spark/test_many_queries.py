"""Queries that come and go leave little on the disks of the nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Budget

from .frames import as_streams
from .named_joins import DELAY, WINDOW, streams
from .queries import drain
from .sources import Sources

pytestmark = pytest.mark.spark

SETTING = "spark.shedjoin.copies"
KEPT_QUERIES = 4
"""Copies may be left of so many queries: the last ones are hardly a second old."""
KEPT_BYTES = 300_000
CI, LONG = 5, pytest.param(200, marks=pytest.mark.long)


@contextmanager
def limited(spark: SparkSession, **limits: str) -> Iterator[None]:
    """Limit the copies of state on the nodes for a while."""
    for name, value in limits.items():
        spark.conf.set(f"{SETTING}.{name}", value)
    try:
        yield
    finally:
        for name in limits:
            spark.conf.unset(f"{SETTING}.{name}")


def run_some(spark: SparkSession, folder: Path, queries: int) -> Iterator[int]:
    """Run joins one after the other, with and without a budget, and count them."""
    sources = Sources(folder / "in").write(streams(31, 1))
    for number in range(1, queries + 1):
        budget = Budget(rows=300) if number % 2 else None
        frames = as_streams(sources.read(spark), DELAY)
        joined = shedjoin.join(*frames, on="k", within=WINDOW, budget=budget)
        drain(joined, folder / f"checkpoint-{number}")
        yield number


class Copies:
    """Copies of state below Spark's local folders, but for those left by others."""

    def __init__(self, spark: SparkSession) -> None:
        self._local = Path(str(spark.conf.get("spark.local.dir")))
        self._old = set(self._queries())

    def queries(self) -> int:
        """How many queries have copies."""
        return len(set(self._queries()) - self._old)

    def size(self) -> int:
        """Bytes of all files."""
        return sum(
            path.lstat().st_blocks * 512
            for query in set(self._queries()) - self._old
            for path in query.rglob("*")
        )

    def _queries(self) -> Iterator[Path]:
        for parent, folders, _ in os.walk(self._local):
            if Path(parent).parent.name == "shedjoin":  # the folder of a boot
                yield from (Path(parent, name) for name in folders)
                folders.clear()


def say(number: int, copies: Copies) -> None:
    if number % 10 == 0:
        said = f"{number} queries: copies of {copies.queries()}, {copies.size()} bytes"
        print(said, flush=True)  # noqa: T201  (progress of a long test)


@pytest.mark.long
@pytest.mark.parametrize("queries", [CI, LONG])
def test_old_copies_go(queries: int, spark: SparkSession, tmp_path: Path) -> None:
    copies, most = Copies(spark), 0
    with limited(spark, maxAge="1 second"):
        for number in run_some(spark, tmp_path, queries):
            most = max(most, copies.queries())
            say(number, copies)
    assert most >= 1
    assert most <= KEPT_QUERIES


@pytest.mark.long
def test_all_copies_together_are_small(spark: SparkSession, tmp_path: Path) -> None:
    """None is old here, so only their size makes them go."""
    copies = Copies(spark)
    with limited(spark, maxAge="1 hour", maxBytes=f"{KEPT_BYTES} B"):
        sizes = [copies.size() for _ in run_some(spark, tmp_path, CI)]
    each = max(b - a for a, b in zip([0, *sizes], sizes, strict=False))
    assert CI * min(sizes) > 1.5 * KEPT_BYTES, "too few queries to show anything"
    # A worker looks at most once a second, so what came in the last one may be beyond.
    assert max(sizes) <= KEPT_BYTES + each
