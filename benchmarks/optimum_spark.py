"""Time of the optimum of long archives, on Spark and without."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import engine
from benchmarks.console import note
from experiments.star_streaming.streams import drawn
from shedjoin.lab.offline import StarArchive, StarOptimum, star_optimum

MEMORY = 10
WINDOWS = {"": 10, "_long": 50}
"""What is added to the names of the figures, and m."""


def figures(rows: int, seed: int) -> dict[str, Any]:
    """Seconds on Spark and here, and whether both found the same."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        star_optimum(_on_spark(spark, drawn(seed, rows=1000)), rows=MEMORY)
        star_optimum(drawn(seed, rows=1000), rows=MEMORY)
        name = f"optimum_{rows // 1000}k"
        for kind, window in WINDOWS.items():
            archive = _in_order(drawn(seed, rows=rows, window=window))
            there, found[f"{name}{kind}_s"] = _timed(_on_spark(spark, archive))
            here, found[f"{name}{kind}_here_s"] = _timed(archive)
            found[f"equal{kind}"] = _told(there) == _told(here)
            found[f"optimum_importance{kind}"] = here.importance
            note(
                f"{rows:,} rows, m = {window}: {here.size:,} results, importance "
                f"{here.importance:,.0f}"
            )
        spark.stop()
    return found


def _in_order(archive: StarArchive) -> StarArchive:
    """As Spark's rows are sorted: sums are rounded by the order of matches."""
    facts = archive.relation.sort_by([("a", "ascending"), ("b", "ascending")])
    return replace(archive, relation=facts)


def _on_spark(spark: SparkSession, archive: StarArchive) -> StarArchive:
    left, right, relation = (
        spark.createDataFrame(table)
        for table in (archive.left, archive.right, archive.relation)
    )
    return replace(archive, left=left, right=right, relation=relation)


def _timed(archive: StarArchive) -> tuple[StarOptimum, float]:
    start = time.perf_counter()
    found = star_optimum(archive, rows=MEMORY)
    return found, time.perf_counter() - start


def _told(found: StarOptimum) -> tuple[Any, ...]:
    return found.parts, found.left, found.right
