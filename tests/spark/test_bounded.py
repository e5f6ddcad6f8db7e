"""A memory budget for several streams on Spark gives what it gives without."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import shedjoin as sj
from shedjoin import local
from support.asked import asked

from .queries import run, same, stop_after_a_micro_batch

pytestmark = pytest.mark.spark

NAMES, ROWS, BATCHES = "abc", 120, 3
SETTINGS: dict[str, Any] = {"within": "8 seconds", "shards": 2}
CASES: dict[str, tuple[Any, sj.Budget]] = {
    "key": ("k", sj.Budget(rows=150)),
    "key and band": (["k", sj.Band("x", 0.5)], sj.Budget(memory="20 kB")),
    "where": (["k", sj.Where("a.x", "<", "b.x")], sj.Budget(rows=150)),
}


def rows_of(name: str, number: int) -> pa.Table:
    rng = np.random.default_rng([NAMES.index(name), number])
    time = rng.integers(5_000_000 * number, 5_000_000 * (number + 1), ROWS)
    key = (20 * rng.random(ROWS) ** 2).astype(np.int64)
    columns = {
        "t": pa.array(1_700_000_000_000_000 + time, pa.timestamp("us", "UTC")),
        "k": key,
        "x": rng.random(ROWS),
        "id": np.arange(ROWS) + ROWS * number,
    }
    return pa.table(columns)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param("key", marks=pytest.mark.long),
        "key and band",
        pytest.param("where", marks=pytest.mark.long),
    ],
)
def test_streams_restarted(case: str, spark: SparkSession, tmp_path: Path) -> None:
    """Stopped and started again, it keeps the same rows as without Spark."""
    on, budget = CASES[case]
    frames: dict[str, DataFrame] = {}
    for name in NAMES:
        folder = tmp_path / name
        folder.mkdir()
        for number in range(BATCHES):
            file = folder / f"{number}.parquet"
            pq.write_table(rows_of(name, number), file)
            os.utime(file, (number, number))  # Spark reads the oldest first
        schema = spark.read.parquet(str(folder)).schema
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frames[name] = reader.parquet(str(folder)).withWatermark("t", "1 minute")
    batches = [{n: rows_of(n, number) for n in NAMES} for number in range(BATCHES)]
    here = local.multijoin(
        batches,
        on=on,
        time=dict.fromkeys(NAMES, "t"),
        lateness="1 minute",
        budget=budget,
        **asked(SETTINGS),
    )

    def joined() -> DataFrame:
        result = sj.multijoin(frames, on=on, budget=budget, **asked(SETTINGS))
        return result.select("id_a", "id_b", "id_c")

    stop_after_a_micro_batch(joined(), tmp_path / "run")
    found = run(joined(), tmp_path / "run")
    ids = (here.results[f"id_{name}"].to_pylist() for name in NAMES)
    assert same(found.rows, list(zip(*ids, strict=True)))
    assert any(here.report.shed)
    last = [counts for counts in found.observed() if counts["resident_a"]][-1]
    resident = tuple(last[f"resident_{name}"] for name in NAMES)
    assert resident == here.batches[-1].report.resident
    assert last["recall"] == 1.0  # nothing came, so nothing is missing
    told = here.batches[-1].report
    last = [counts for counts in found.observed() if counts["seen_a"]][-1]
    assert (told.recall is None) == (case == "where")
    assert last["recall"] == pytest.approx(told.recall)
    assert str(last["recall_state"]) == told.recall_state
