"""What ``shedjoin calibrate`` measures: the work of a join, in all proportions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from shedjoin import Within, local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ROWS = 400


def exact(folder: Path, number: int) -> int:
    """Results of one micro-batch, whose rows meet those of their own only."""
    left, right = (
        pq.read_table(folder / side / f"{number:04d}.parquet")
        for side in ("left", "right")
    )
    joined = local.join(
        [(left, right)],
        on="key",
        within=Within(before="1 second", after="1 second"),
        time=("left_time", "right_time"),
    )
    return joined.report.matched


def test_work_is_counted_and_throttled(spark: SparkSession, tmp_path: Path) -> None:
    from shedjoin.spark.calibration import Sweep, measure

    sweep = Sweep(rows=(ROWS,), results=(4.0,), shares=(1.0, 0.3), rounds=2)
    told: list[str] = []
    found = measure(spark, tmp_path, told.append, sweep)
    assert len(told) == 2
    for side in ("left", "right"):  # Spark reads files by age: no two have the same
        ages = [path.stat().st_mtime for path in sorted((tmp_path / side).iterdir())]
        assert ages == sorted(set(ages))
    assert {one.work.rows for one in found} == {2.0 * ROWS}
    assert all(one.seconds > 0 for one in found)
    whole, some = found[:2], found[2:]
    wanted = [exact(tmp_path, 2), exact(tmp_path, 3)]  # after two to warm up
    assert [one.work.results for one in whole] == wanted
    assert {one.work.updates for one in whole} == {2.0 * ROWS}
    assert sum(one.work.results for one in some) < 0.6 * sum(wanted)
    assert sum(one.work.updates for one in some) < 0.6 * 4.0 * ROWS
