"""The join over Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from .sources import Sources
from .values import times

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[1]


def table(side: str, *rows: tuple[int, int]) -> pa.Table:
    """Rows of (key, second), each with a number that tells both."""
    keys, seconds = [key for key, _ in rows], [second for _, second in rows]
    return pa.table(
        {
            "k": keys,
            "s": [f"s{key}" for key in keys],
            f"{side}_time": times(*seconds),
            f"{side}_id": [100 * key + second for key, second in rows],
        }
    )


def test_end_to_end(tmp_path: Path) -> None:
    Sources(tmp_path / "in").write(
        [
            (table("left", (1, 1), (2, 2)), table("right", (1, 1), (1, 5))),
            (table("left", (3, 60)), table("right", (2, 3), (3, 60))),
            (table("left", (3, 61)), table("right", (2, 13), (2, 12))),
            (table("left", (1, 30), (3, 62)), table("right", (1, 30), (3, 71))),
        ]
    )
    done = subprocess.run(
        [sys.executable, "-m", "spark.connected", str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["session"] == "pyspark.sql.connect.session"
    assert found["columns"] == [
        *("k", "s", "left_time", "left_id", "right_time", "right_id")
    ]
    assert sorted(found["rows"]) == [
        [101, 101],
        [101, 105],
        [202, 203],
        [202, 212],
        [360, 360],
        [361, 371],
        [362, 371],
    ]  # and not 130, which is late
    assert all(names == ["shedjoin"] for names in found["observed"])
    assert len(found["observed"]) > 3
