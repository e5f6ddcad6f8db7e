"""Workers that run another interpreter than the driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin.errors import MissingExtraError

from .frames import MINUTE, TIMES

pytestmark = pytest.mark.spark

BARE = """#!/bin/sh
export PYTHONPATH=$(printf %s "$PYTHONPATH" | tr : "\\n" | grep pyspark | paste -sd:)
exec {python} -S "$@"
"""
"""An interpreter with nothing but what Spark gives to workers."""


def test_workers_without_the_package(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said at the call, with both interpreters and what to set."""
    bare = tmp_path / "python"
    bare.write_text(BARE.format(python=sys.executable))
    bare.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    frames = (spark.sql(f"select 1 k, timestamp'2024-01-01' {name}") for name in TIMES)
    with pytest.raises(MissingExtraError, match="no package 'shedjoin'") as caught:
        shedjoin.join(*frames, on="k", within=MINUTE, time=TIMES)
    assert sys.executable in caught.value.problem
    assert "PYSPARK_PYTHON" in caught.value.fix
