"""Outer and semi joins equal Spark's own; anti joins equal the oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from oracle.join import Row
from support.streams import Case, make_case, tables

from .joins import marked, native, ours
from .queries import run_both, same
from .sources import Sources

pytestmark = pytest.mark.spark

HOUR_US = 3_600_000_000
SEEDS = {
    2024: "skewed int64 keys, null keys, an empty batch, a window that starts later",
    684: "skewed dates as key, a burst, a window of `before` only",
    211: "unique pairs of columns as key, 16 shards, both delays and disorder",
    2866: "skewed string keys, five batches, delays of 20 s and 3 s",
    1014: "skewed binary keys, no nulls, one side empty",
    1192: "int64 keys, 16 shards, many late rows",
}
IN_CI = {(2024, "full"), (211, "left")}
CASES = [
    pytest.param(*(seed, how), marks=() if (seed, how) in IN_CI else pytest.mark.long)
    for seed in SEEDS
    for how in ("left", "right", "full", "left_semi")
]


def without_null_pairs(case: Case, how: str) -> Case:
    """Leave out null keys of one stream: Spark's outer joins match null with null."""
    side = 0 if how == "right" else 1
    batches = []
    for batch in case.batches:
        rows = [*batch]
        rows[side] = [row for row in batch[side] if None not in row.key]
        batches.append((rows[0], rows[1]))
    return replace(case, batches=batches)


def ended(case: Case) -> Case:
    """Add a row to each stream, so late that the wait of all other rows is over.

    Spark rounds the end of a wait to milliseconds, and emits some rows later.
    """
    rows = [row for batch in case.batches for side in batch for row in side]
    known = next(row for row in rows if row.time_us is not None)
    latest = max(row.time_us or 0 for row in rows)
    waits = abs(case.before_us) + abs(case.after_us) + 1000 * sum(case.delays_ms)
    end = Row(known.key, latest + 2 * waits + HOUR_US, (-1, 0))
    return replace(case, batches=[*case.batches, ([end], [end])])


@pytest.mark.parametrize(("seed", "how"), CASES)
def test_equals_native(
    seed: int, how: str, spark: SparkSession, tmp_path: Path
) -> None:
    case = ended(without_null_pairs(make_case(seed), how))
    sources = Sources(tmp_path / "in").write(tables(case))
    frames = marked(case, sources.read(spark))
    joined, expected = ours(case, frames, how=how), native(case, frames, how)
    found, theirs = run_both(joined, expected, tmp_path)
    assert joined.columns == expected.columns
    assert same(found.rows, theirs.rows)
    assert found.total("matched") == len(found.rows)
