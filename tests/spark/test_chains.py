"""Results with an event time go on through Spark's own operators, in append mode.

Every chain gets rows out of order and late rows, and is restarted in the middle. What
it gives is held against the same chain with Spark's own join, or against the batch
query over all rows that are not late.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

import shedjoin as sj
from shedjoin.spec.window import parse_duration

from .four_streams import (
    AFTER_S,
    BATCHES,
    BEFORE_S,
    DELAY,
    SENT,
    WINDOW,
    Streams,
    native_join,
    near,
)
from .queries import Run, run, same

pytestmark = pytest.mark.spark
LONG = [
    pytest.param(chain, marks=pytest.mark.long)
    for chain in ("joined_again", "three", "sums_joined", "four")
]


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    return Streams(tmp_path, spark)


def ours(frames: dict[str, DataFrame]) -> DataFrame:
    return sj.join(
        frames["a"], frames["b"], on="k", within=WINDOW, event_time="matched_at"
    )


def run_in_halves(streams: Streams, chain: str) -> Run:
    """Run a chain to the end of half of the input, then of all, as a new query."""
    own = Streams(streams.folder / chain, streams.spark)
    for first, end in ((0, BATCHES // 2), (BATCHES // 2, BATCHES)):
        frame = CHAINS[chain](own.write(first, end).read())
        found = run(frame, own.folder)
    return found


def run_side_by_side(streams: Streams, *chains: str) -> list[Run]:
    """Run several chains in halves: a query of few rows mostly waits."""
    with ThreadPoolExecutor(len(chains)) as threads:
        return list(threads.map(partial(run_in_halves, streams), chains))


def by_window(results: DataFrame, time: str) -> DataFrame:
    counted = results.groupBy(F.window(time, "5 seconds")).count()
    return counted.select("window.start", "count")


def window_counts(frames: dict[str, DataFrame]) -> DataFrame:
    return by_window(ours(frames), "matched_at")


def own_counts(frames: dict[str, DataFrame]) -> DataFrame:
    """Windows over a time that lies behind the watermark while rows wait."""
    joined = sj.join(frames["a"], frames["b"], on="k", within=WINDOW)
    aggregates = {"count": F.count("*")}
    counted = sj.aggregate(
        joined, window="5 seconds", aggregates=aggregates, time="t_a"
    )
    return counted.select("window.start", "count")


def native_counts(frames: dict[str, DataFrame]) -> DataFrame:
    return by_window(native_join(frames["a"], frames["b"], "t_a", "t_b"), "t_a")


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


WAITS_S = {"a": 4, "b": 2, "c": 3, "d": 5}


def several(frames: dict[str, DataFrame], names: str) -> DataFrame:
    joined = sj.multijoin(
        {name: frames[name] for name in names},
        on="k",
        within={name: f"{WAITS_S[name]} seconds" for name in names},
    )
    return joined.select(*(f"id_{name}" for name in names))


def several_natively(frames: dict[str, DataFrame], names: str) -> DataFrame:
    """Join by join: no row may be later than another by more than that one waits."""
    joined = frames[names[0]]
    for place, name in enumerate(names[1:], 1):
        near = F.col("k") == F.col("other_k")
        for other in names[:place]:
            for early, late in ((name, other), (other, name)):
                wait = F.lit(timedelta(seconds=WAITS_S[early]))
                near &= F.col(f"t_{late}") <= F.col(f"t_{early}") + wait
        frame = frames[name].withColumnRenamed("k", "other_k")
        joined = joined.join(frame, near).drop("other_k")
        # Spark wants one event time per stream: the others become plain times.
        plain = F.col(f"t_{name}") + F.lit(timedelta(0))
        joined = joined.withColumn(f"t_{name}", plain)
    return joined.select(*(f"id_{name}" for name in names))


def three(frames: dict[str, DataFrame]) -> DataFrame:
    return several(frames, "abc")


def three_natively(frames: dict[str, DataFrame]) -> DataFrame:
    return several_natively(frames, "abc")


def four(frames: dict[str, DataFrame]) -> DataFrame:
    return several(frames, "abcd")


def four_natively(frames: dict[str, DataFrame]) -> DataFrame:
    return several_natively(frames, "abcd")


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


def few(left: DataFrame, right: DataFrame) -> tuple[DataFrame, DataFrame]:
    """So few rows that many of them find no partner."""
    return left.where("id_a % 5 = 0"), right.where("id_b % 8 = 0")


def all_rows(frames: dict[str, DataFrame]) -> DataFrame:
    return sj.join(
        *few(frames["a"], frames["b"]),
        on="k",
        within=WINDOW,
        how="full",
        event_time="known_at",
    )


def outer_counts(frames: dict[str, DataFrame]) -> DataFrame:
    return by_window(all_rows(frames), "known_at")


def outer_joined(frames: dict[str, DataFrame]) -> DataFrame:
    times = ("known_at", "t_c")
    joined = sj.join(
        *(all_rows(frames), frames["c"]),
        on="k",
        within=WINDOW,
        time=times,
        name="second",
    )
    return joined.select("id_a", "id_b", "id_c")


CHAINS = {
    function.__name__: function
    for function in (
        window_counts,
        own_counts,
        native_counts,
        distinct_keys,
        outer_counts,
        outer_joined,
        joined_again,
        joined_again_natively,
        sums_joined,
        sums_joined_natively,
        three,
        three_natively,
        four,
        four_natively,
    )
}


def known_rows(streams: Streams) -> DataFrame:
    """Pairs, and rows without a partner, by a batch query."""
    frames = on_time(streams, "ab")
    left, right = few(frames["a"], frames["b"])
    right = right.withColumnRenamed("k", "other_k")
    near_each = (F.col("k") == F.col("other_k")) & near("t_a", "t_b")
    found = left.join(right, near_each, "full")
    waits = {"t_a": AFTER_S, "t_b": BEFORE_S}
    ends = [F.col(t) + F.lit(timedelta(seconds=s)) for t, s in waits.items()]
    known = (
        F.when(F.col("t_b").isNull(), ends[0])
        .when(F.col("t_a").isNull(), ends[1])
        .otherwise(F.greatest("t_a", "t_b"))
    )
    key = F.coalesce("k", "other_k").alias("k")
    return found.select(key, "id_a", "id_b", known.alias("known_at"))


def all_pairs(streams: Streams) -> DataFrame:
    """Pairs of rows that are not late, by a batch query."""
    frames = on_time(streams, "ab")
    return native_join(frames["a"], frames["b"], "t_a", "t_b")


def on_time(streams: Streams, names: str) -> dict[str, DataFrame]:
    """Rows that are not late, as tables."""
    frames = {}
    for name in names:
        table = pa.concat_tables(
            batch.slice(5) if number > 2 else batch
            for number, batch in enumerate(SENT[name])
        )
        frames[name] = streams.spark.createDataFrame(table)
    return frames


def closings(folder: Path, streams: Streams) -> dict[datetime, int]:
    """The micro-batch in which each window came out, from the sink's own log."""
    found: dict[datetime, int] = {}
    for log in (folder / "results" / "_spark_metadata").iterdir():
        if log.name.isdecimal():
            entries = map(json.loads, log.read_text().splitlines()[1:])
            files = [entry["path"] for entry in entries]
            rows = streams.spark.read.parquet(*files).collect() if files else []
            found |= dict.fromkeys((row["start"] for row in rows), int(log.name))
    return found


def test_windows(streams: Streams) -> None:
    times_of = {"window_counts": ("t_a", "t_b"), "own_counts": ("t_a",)}
    _, *all_found = run_side_by_side(streams, "native_counts", *times_of)
    in_native = closings(streams.folder / "native_counts", streams)
    assert len(in_native) >= 12
    for (chain, times), found in zip(times_of.items(), all_found, strict=True):
        columns = [F.col(name) for name in times]
        latest = F.greatest(*columns) if len(columns) > 1 else columns[0]
        pairs = all_pairs(streams).select(latest.alias("time"))
        expected = dict(map(tuple, by_window(pairs, "time").collect()))
        closed: dict[datetime, int] = dict(found.rows)
        assert len(closed) == len(found.rows) >= 12
        assert closed == {at: n for at, n in expected.items() if at <= max(closed)}
        in_ours = closings(streams.folder / chain, streams)
        for start, batch in in_native.items():
            assert in_ours[start] <= batch + 1, chain


@pytest.mark.long
def test_windows_of_an_outer_join(streams: Streams) -> None:
    found = run_in_halves(streams, "outer_counts")
    known = known_rows(streams)
    assert known.where("id_a is null").count() > 5
    assert known.where("id_b is null").count() > 20
    expected = dict(map(tuple, by_window(known, "known_at").collect()))
    closed: dict[datetime, int] = dict(found.rows)
    assert len(closed) == len(found.rows) >= 12
    assert closed == {at: n for at, n in expected.items() if at <= max(closed)}


@pytest.mark.long
def test_an_outer_join_joined_again(streams: Streams) -> None:
    found = run_in_halves(streams, "outer_joined")
    known = known_rows(streams)
    right = on_time(streams, "c")["c"].withColumnRenamed("k", "other_k")
    near_each = (F.col("k") == F.col("other_k")) & near("known_at", "t_c")
    every = {
        tuple(row)
        for row in known.join(right, near_each).select("id_a", "id_b", "id_c").collect()
    }
    rows = [tuple(row) for row in found.rows]
    assert len(set(rows)) == len(rows) > 300
    assert set(rows) <= every
    assert any(row[1] is None for row in rows)


@pytest.mark.long
def test_duplicates_within_the_watermark(streams: Streams) -> None:
    found = run_in_halves(streams, "distinct_keys")
    delay = timedelta(microseconds=parse_duration(DELAY))
    pairs = all_pairs(streams)
    latest = F.greatest("t_a", "t_b")
    times = pairs.groupBy("k").agg(F.collect_set(latest)).collect()
    known = {key: set(own) for key, own in times}
    assert {key for key, _ in found.rows} == known.keys()
    assert all(time in known[key] for key, time in found.rows)
    for key, own in known.items():
        kept = sorted(time for one, time in found.rows if one == key)
        assert len(kept) < len(own)
        assert all(b - a > delay for a, b in pairwise(kept))


@pytest.mark.parametrize("chain", LONG)
def test_joined_again(chain: str, streams: Streams) -> None:
    found, native = run_side_by_side(streams, chain, f"{chain}_natively")
    assert len(native.rows) > 500
    assert same(found.rows, native.rows)
