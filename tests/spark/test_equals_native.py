"""The join equals Spark's own, row for row and late row for late row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import shedjoin
from local.runs import REPORTED, truth
from oracle.join import Row, exact_join
from support.streams import Case, make_case, tables

from .frames import MINUTE, TIMES, as_streams
from .joins import marked, native, native_join, ours
from .queries import run_both, same
from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark

SEEDS = {
    2024: "skewed int64 keys, null keys, an empty batch, a window that starts later",
    1257: "unique int32 keys, a burst, one side empty, a window that ends earlier",
    554: "string keys, a burst, disorder, delays of 0 and 1 ms",
    211: "unique pairs of columns as key, 16 shards, both delays and disorder",
    603: "few rows, a side and a batch empty, hours of time",
    684: "skewed dates as key, a burst, a window of `before` only",
    2013: "skewed decimals as key, steps of 50 us, an uneven window",
    1221: "decimals as key, a burst, rows beyond the lateness",
    1014: "skewed binary keys, no nulls, one side empty",
    567: "boolean keys: hundreds of matches per batch",
    2866: "skewed string keys, five batches, delays of 20 s and 3 s",
    2416: "int64 keys, 16 shards, a window off the grid by a microsecond",
    1192: "int64 keys, 16 shards, many late rows",
    75: "unique pairs as key, a window of a year",
    1452: "dates as key, equal delays",
}


IN_CI = {2024, 684, 2866}
CASES = [
    pytest.param(seed, marks=() if seed in IN_CI else pytest.mark.long)
    for seed in SEEDS
]


@pytest.mark.parametrize("seed", CASES)
def test_equals_native(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    case = make_case(seed)
    sources = Sources(tmp_path / "in").write(tables(case))
    frames = marked(case, sources.read(spark))
    joined, expected = ours(case, frames), native(case, frames)
    found, theirs = run_both(joined, expected, tmp_path)
    assert joined.columns == expected.columns
    assert same(found.rows, theirs.rows)
    late = [counts["late_left"] + counts["late_right"] for counts in found.observed()]
    assert late == theirs.dropped()
    batches = found.observed()[: len(case.batches)]
    assert [{n: counts[n] for n in REPORTED} for counts in batches] == truth(
        case
    ).reports


@pytest.mark.parametrize(
    "silent",
    [pytest.param(0, id="left"), pytest.param(1, id="right", marks=pytest.mark.long)],
)
def test_a_side_without_files(silent: int, spark: SparkSession, tmp_path: Path) -> None:
    """Spark then plans that side away; all shards must still learn the watermark."""
    keys = list(range(20))
    batches: list[list[pa.Table | None]] = [[None, None] for _ in range(3)]
    for side, name in enumerate(("left", "right")):
        for number, (second, chosen) in enumerate(
            [(100, keys), (200, [3]), (50, keys)]
        ):
            if number == 0 or side != silent:
                columns = {"k": chosen, f"{name}_time": times(*[second] * len(chosen))}
                batches[number][side] = pa.table(columns)
    sources = Sources(tmp_path / "in").write([(a, b) for a, b in batches])
    frames = as_streams(sources.read(spark), "0 seconds")
    joined = shedjoin.join(
        *frames, on="k", within=MINUTE, options=shedjoin.Options(shards=8)
    )
    expected = native_join(frames, {"k": "k"}, MINUTE, TIMES)
    found, theirs = run_both(joined, expected, tmp_path)
    assert same(found.rows, theirs.rows)
    assert len(found.rows) == 20
    assert found.total("late_left", "late_right") == sum(theirs.dropped()) == 20


def test_times_at_and_before_1970_are_late(spark: SparkSession, tmp_path: Path) -> None:
    case = Case(
        seed=0,
        batches=[
            (
                [Row((1,), 0, (0, 0)), Row((1,), -1, (1, 0)), Row((1,), 1, (2, 0))],
                [Row((1,), 0, (0, 0)), Row((1,), 2, (1, 0))],
            )
        ],
        before_us=5,
        after_us=5,
        delays_ms=(0, 0),
        key_kind="int64",
        shards=2,
    )
    frames = marked(case, Sources(tmp_path / "in").write(tables(case)).read(spark))
    found, theirs = run_both(ours(case, frames), native(case, frames), tmp_path)
    assert same(found.rows, theirs.rows)
    assert len(found.rows) == 1
    assert found.total("late_left", "late_right") == sum(theirs.dropped()) == 3


def traits(case: Case) -> set[str]:
    """What a case contains, of all that the cases together must cover."""
    sides = [[row for batch in case.batches for row in batch[n]] for n in (0, 1)]
    rows = sides[0] + sides[1]
    sizes = [len(batch[n]) for batch in case.batches for n in (0, 1)]
    shares = [Counter(r.key for r in side if None not in r.key) for side in sides]
    batches = exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    checks = {
        case.key_kind: True,
        "late": any(batch.late_left + batch.late_right for batch in batches),
        "null key": any(None in row.key for row in rows),
        "null time": any(row.time_us is None for row in rows),
        "duplicates": len(rows) > len(set(sides[0])) + len(set(sides[1])),
        "one side empty": any(bool(b[0]) != bool(b[1]) for b in case.batches),
        "batch empty": any(not b[0] and not b[1] for b in case.batches),
        "burst": max(sizes) > 4 * sorted(sizes)[len(sizes) // 2],
        "uneven window": case.before_us != case.after_us,
        "negative before": case.before_us < 0,
        "negative after": case.after_us < 0,
        "two delays": case.delays_ms[0] != case.delays_ms[1],
        "skew": any(max(n.values()) > n.total() // 3 for n in shares if len(n) > 7),
        "unique": all(max(n.values()) < 5 and len(n) > 20 for n in shares),
        "disorder": any(out_of_order(batch) for batch in case.batches),
    }
    return {name for name, holds in checks.items() if holds}


def out_of_order(batch: tuple[list[Row], list[Row]]) -> bool:
    times = [row.time_us for row in batch[0] if row.time_us is not None]
    return times != sorted(times)


def test_the_cases_cover_what_they_should() -> None:
    covered = set().union(*(traits(make_case(seed)) for seed in SEEDS))
    kinds = {"int64", "int32", "string", "pair", "date", "decimal", "binary", "bool"}
    assert covered >= kinds | {
        *("late", "null key", "null time", "duplicates", "one side empty"),
        *("batch empty", "burst", "uneven window", "negative before"),
        *("negative after", "two delays", "skew", "unique", "disorder"),
    }
