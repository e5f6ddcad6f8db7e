"""Results with an event time go on through Spark's own operators, in append mode.

Every chain gets rows out of order and late rows, and is restarted in the middle. What
it gives is held against the same chain with Spark's own join, or against the batch
query over all rows that are not late.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj

from .queries import Rows, Run, run, same
from .sources import Sources

pytestmark = pytest.mark.spark

BATCHES, ROWS, KEYS = 8, 80, 10
START_US = 1_700_000_000_000_000
DELAY = "4 seconds"
BEFORE_S, AFTER_S = 3, 6
WINDOW = sj.Within(before=f"{BEFORE_S} seconds", after=f"{AFTER_S} seconds")
NAMES = "abcd"


def rows_of(name: str) -> list[pa.Table]:
    """Ten seconds a micro-batch, out of order; some rows are late by a minute."""
    rng = np.random.default_rng(NAMES.index(name))
    made = []
    for number in range(BATCHES):
        seconds = 10 * number + rng.uniform(-3, 10, ROWS)
        seconds[:5] -= 60 * (number > 2)
        time = START_US + (seconds * 1e6).astype(np.int64)
        columns = {
            "k": rng.integers(0, KEYS, ROWS),
            f"t_{name}": pa.array(time, pa.timestamp("us", "UTC")),
            f"id_{name}": np.arange(number * ROWS, (number + 1) * ROWS),
        }
        made.append(pa.table(columns))
    return made


SENT = {name: rows_of(name) for name in NAMES}


class Streams(NamedTuple):
    """Four streams of files, of which the second half comes later."""

    folder: Path
    spark: SparkSession

    def write(self, first: int, end: int) -> Streams:
        """Write some micro-batches."""
        for pair in ("ab", "cd"):
            tables = zip(*(SENT[name][first:end] for name in pair), strict=True)
            Sources(self.folder / pair).write(list(tables), first)
        return self

    def read(self) -> dict[str, DataFrame]:
        """All streams by name."""
        found = {}
        for pair in ("ab", "cd"):
            frames = Sources(self.folder / pair).read(self.spark)
            for name, frame in zip(pair, frames, strict=True):
                found[name] = frame.withWatermark(f"t_{name}", DELAY)
        return found


class Chains(NamedTuple):
    """The same chain with our join and with Spark's own."""

    ours: Run
    native: Run


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    return Streams(tmp_path, spark)


def near(early: str, late: str) -> Column:
    """The window as a condition."""
    before, after = timedelta(seconds=BEFORE_S), timedelta(seconds=AFTER_S)
    time = F.col(early)
    return F.col(late).between(time - F.lit(before), time + F.lit(after))


def native_join(left: DataFrame, right: DataFrame, early: str, late: str) -> DataFrame:
    """Spark's own join with the same condition."""
    right = right.withColumnRenamed("k", "other_k")
    return left.join(right, (F.col("k") == F.col("other_k")) & near(early, late)).drop(
        "other_k"
    )


def ours(frames: dict[str, DataFrame]) -> DataFrame:
    return sj.join(
        frames["a"], frames["b"], on="k", within=WINDOW, event_time="matched_at"
    )


def run_in_halves(streams: Streams, chain: str, name: str) -> Run:
    """Run a chain to the end of half of the input, then of all, as a new query."""
    folder = streams.folder / name
    for first, end in ((0, BATCHES // 2), (BATCHES // 2, BATCHES)):
        frame = CHAINS[chain](streams.write(first, end).read())
        found = run(frame, folder)
    return found


def by_window(results: DataFrame, time: str) -> DataFrame:
    counted = results.groupBy(F.window(time, "5 seconds")).count()
    return counted.select("window.start", "count")


def window_counts(frames: dict[str, DataFrame]) -> DataFrame:
    return by_window(ours(frames), "matched_at")


def own_time_counts(frames: dict[str, DataFrame]) -> DataFrame:
    """Windows over a time that lies behind the watermark while rows wait."""
    joined = sj.join(frames["a"], frames["b"], on="k", within=WINDOW)
    aggregates = {"count": F.count("*")}
    counted = sj.aggregate(
        joined, window="5 seconds", aggregates=aggregates, time="t_a"
    )
    return counted.select("window.start", "count")


def distinct_keys(frames: dict[str, DataFrame]) -> DataFrame:
    return ours(frames).dropDuplicatesWithinWatermark(["k"]).select("k", "matched_at")


def joined_again(frames: dict[str, DataFrame]) -> DataFrame:
    """Three streams, by an own time of the first join."""
    first = sj.join(frames["a"], frames["b"], on="k", within=WINDOW)
    again = sj.join(
        *(first, frames["c"]),
        on="k",
        within=WINDOW,
        time=("t_a", "t_c"),
        name="second",
    )
    return again.select("id_a", "id_b", "id_c")


def joined_again_natively(frames: dict[str, DataFrame]) -> DataFrame:
    first = native_join(frames["a"], frames["b"], "t_a", "t_b")
    return native_join(first, frames["c"], "t_a", "t_c").select("id_a", "id_b", "id_c")


def sums_of(frame: DataFrame) -> DataFrame:
    """Counts by key and five seconds, with a time that Spark knows as event time."""
    counted = frame.groupBy("k", F.window("t_c", "5 seconds")).count()
    return counted.select("k", F.window_time("window").alias("t_sum"), "count")


def sums_joined(frames: dict[str, DataFrame]) -> DataFrame:
    found = sj.join(sums_of(frames["c"]), frames["d"], on="k", within=WINDOW)
    return found.select("k", "t_sum", "count", "id_d")


def sums_joined_natively(frames: dict[str, DataFrame]) -> DataFrame:
    found = native_join(sums_of(frames["c"]), frames["d"], "t_sum", "t_d")
    return found.select("k", "t_sum", "count", "id_d")


CHAINS = {
    function.__name__: function
    for function in (
        window_counts,
        own_time_counts,
        distinct_keys,
        joined_again,
        joined_again_natively,
        sums_joined,
        sums_joined_natively,
    )
}


def all_pairs(streams: Streams) -> DataFrame:
    """Pairs of rows that are not late, by a batch query."""
    frames = {}
    for name in "ab":
        table = pa.concat_tables(
            batch.slice(5) if number > 2 else batch
            for number, batch in enumerate(SENT[name])
        )
        frames[name] = streams.spark.createDataFrame(table)
    return native_join(frames["a"], frames["b"], "t_a", "t_b")


@pytest.mark.parametrize(
    ("chain", "times", "open_windows"),
    [
        # A watermark of four seconds leaves windows open, and the lag some more.
        ("window_counts", ("t_a", "t_b"), 4),
        ("own_time_counts", ("t_a", "t_a"), 4 + 2),
    ],
)
def test_windows(
    chain: str, times: tuple[str, str], open_windows: int, streams: Streams
) -> None:
    found = run_in_halves(streams, chain, "ours")
    latest = F.greatest(*times).alias("time")
    counted = by_window(all_pairs(streams).select(latest), "time")
    expected = dict(map(tuple, counted.collect()))
    closed: dict[datetime, int] = dict(found.rows)
    assert len(closed) == len(found.rows) >= 12
    last = max(closed)
    assert closed == {at: n for at, n in expected.items() if at <= last}
    assert len(expected) - len(closed) <= open_windows


def test_duplicates_within_the_watermark(streams: Streams) -> None:
    found = run_in_halves(streams, "distinct_keys", "ours")
    pairs = all_pairs(streams)
    latest = F.greatest("t_a", "t_b")
    times = pairs.groupBy("k").agg(F.collect_set(latest)).collect()
    known = {key: set(own) for key, own in times}
    assert {key for key, _ in found.rows} == known.keys()
    assert all(time in known[key] for key, time in found.rows)
    for key, own in known.items():
        assert sum(key == kept for kept, _ in found.rows) < len(own)


@pytest.mark.parametrize("chain", ["joined_again", "sums_joined"])
def test_joined_again(chain: str, streams: Streams) -> None:
    found = run_in_halves(streams, chain, "ours")
    native = Streams(streams.folder / "again", streams.spark)
    expected: Rows = run_in_halves(native, f"{chain}_natively", "native").rows
    assert len(expected) > 500
    assert same(found.rows, expected)
