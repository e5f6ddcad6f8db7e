"""Counts arrive in the query's progress, and state leaves without new rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Within
from shedjoin.spec.report import OTHER_BUDGETS, count_types

from .frames import MINUTE, as_streams
from .queries import Counts, Run, run
from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark

KEYS = list(range(50))
OF_A_SHARD = ("max_resident", "max_matched", "max_state_bytes", "min_watermark_ms")
RECALLS = {
    f"{name}{end}"
    for name in (
        *("recall", "importance_recall"),
        *("recall_so_far", "importance_recall_so_far"),
    )
    for end in ("", "_low", "_high")
}
Batch = tuple[pa.Table, pa.Table]


def batch(seconds: list[float], keys: list[int]) -> Batch:
    """Both sides with these rows."""
    left, right = (
        pa.table({"k": pa.array(keys, pa.int64()), f"{side}_time": times(*seconds)})
        for side in ("left", "right")
    )
    return left, right


def join_all(
    spark: SparkSession, folder: Path, batches: list[Batch], within: Within, name: str
) -> Run:
    sources = Sources(folder / "in").write(batches)
    frames = as_streams(sources.read(spark), delay="0 seconds")
    joined = shedjoin.join(
        *frames, on="k", within=within, options=shedjoin.Options(shards=8), name=name
    )
    return run(joined, folder / "out")


def check_sums(batches: list[Counts]) -> None:
    """Rows in, rows out and rows resident add up, side by side and batch by batch."""
    for side in ("left", "right"):
        resident = 0
        for counts in batches:
            assert counts[f"seen_{side}"] == (
                counts[f"late_{side}"] + counts[f"stored_{side}"]
            )
            resident += counts[f"stored_{side}"] - counts[f"expired_{side}"]
            assert counts[f"resident_{side}"] == resident


def test_counts_under_the_name_given(spark: SparkSession, tmp_path: Path) -> None:
    sent = [
        batch([1.0] * 50, KEYS),
        batch([200.0] * 50, KEYS),
        batch([10.0] * 5 + [230.0] * 3, KEYS[:8]),
        batch([20.0] * 7 + [240.0] * 3, KEYS[:10]),
    ]
    found = join_all(spark, tmp_path, sent, MINUTE, "clicks")
    assert [list(batch["observedMetrics"]) for batch in found.progress] == [
        ["clicks"] for _ in found.progress
    ]
    batches = found.observed("clicks")
    names = {*count_types(("left", "right")), *OF_A_SHARD, *RECALLS, "recall_state"}
    names |= {name.replace("expected", "recall_at") for name in OTHER_BUDGETS.values()}
    assert all(set(counts) == names for counts in batches)
    assert all(counts["recall"] == 1.0 for counts in batches)
    for counts in batches[:4]:
        both = counts["resident_left"] + counts["resident_right"]
        assert both / 8 <= counts["max_resident"] < both
        assert 0 < counts["max_matched"] < counts["matched"]
        assert 0 < counts["max_state_bytes"] < counts["state_bytes"]
        assert counts["min_watermark_ms"] == counts["watermark_ms"]
    check_sums(batches)
    assert [counts["seen_left"] for counts in batches[:4]] == [50, 50, 8, 10]
    assert [counts["late_left"] for counts in batches[:4]] == [0, 0, 0, 7]
    assert [counts["late_right"] for counts in batches[:4]] == [0, 0, 0, 7]
    # Times 10 and 1 match 5 * 3 times, 230 and 200 then 3 * 3, 240 with both 5 + 3 * 2.
    assert [counts["matched"] for counts in batches[:4]] == [50, 50, 24, 11]
    assert found.total("matched", name="clicks") == len(found.rows)
    marks = [counts["watermark_ms"] - 1_700_000_000_000 for counts in batches]
    assert marks[1:] == [1_000, 200_000, 230_000, 240_000]
    assert all(counts["written_bytes"] > 0 for counts in batches)
    assert all(counts["state_bytes"] > 0 for counts in batches)


def test_state_leaves_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    """One shard gets a row of the far future; all shards must let go, also later."""
    sent = [batch([float(key) for key in KEYS], KEYS), batch([1e6], [3])]
    found = join_all(spark, tmp_path, sent, Within(after="0 seconds"), "shedjoin")
    first, second, last = found.observed()
    assert [run["numInputRows"] for run in found.progress] == [100, 2, 0]
    assert (first["resident_left"], first["resident_right"]) == (50, 50)
    # By the watermark of the first micro-batch, which is the time of the last row.
    assert (second["expired_left"], second["expired_right"]) == (50, 50)
    assert (second["resident_left"], second["resident_right"]) == (1, 1)
    assert (last["expired_left"], last["expired_right"]) == (1, 1)
    assert (last["resident_left"], last["resident_right"]) == (0, 0)
    assert last["segments"] == 0
    check_sums(found.observed())


def test_all_shards_let_go_in_a_micro_batch_without_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    sent = [batch([1.0] * 50, KEYS), batch([2.0], [3]), batch([1e6], [3])]
    found = join_all(spark, tmp_path, sent, MINUTE, "shedjoin")
    residents = [
        counts["resident_left"] + counts["resident_right"]
        for counts in found.observed()
    ]
    assert residents == [100, 102, 104, 2]
    assert found.progress[-1]["numInputRows"] == 0
    assert found.observed()[-1]["expired_left"] == 51
    stored = [batch["stateOperators"][0]["numRowsTotal"] for batch in found.progress]
    assert stored[-1] < stored[-2]
    check_sums(found.observed())


@pytest.mark.long
@pytest.mark.parametrize("windows", [("1 minute", "2 minutes"), ("1 minute",) * 2])
def test_two_joins_in_one_query(
    windows: tuple[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    """Each has its own name, state and watermark, also if they are the same join."""
    sent = [
        batch([1.0], [1]),
        batch([1000.0], [1]),
        batch([2.0], [1]),
        batch([3.0], [1]),
    ]
    sources = Sources(tmp_path / "in").write(sent)
    frames = as_streams(sources.read(spark), delay="0 seconds")
    one, two = (
        shedjoin.join(*frames, on="k", within=Within(after=after), name=name)
        for name, after in zip(("one", "two"), windows, strict=True)
    )
    found = run(one.unionByName(two), tmp_path / "out")
    for name in ("one", "two"):
        assert found.total("late_left", name=name) == 1
        assert found.observed(name)[-1]["resident_left"] == 1
        assert found.total("matched", name=name) == 4
    assert len(found.rows) == 8
