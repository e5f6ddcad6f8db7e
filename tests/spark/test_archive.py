"""The yardstick on archives of any size finds what the local one finds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from shedjoin import Within
from shedjoin.errors import ParameterError
from shedjoin.lab.offline import Archive, MatchGraph, archived_matches, cheapest_matches
from shedjoin.lab.plan import Costs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
START = datetime(2026, 1, 1, tzinfo=UTC)
COSTS = Costs(update=1, match=0.3)


def archive(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Rows of a few popular keys and many others, by key and time."""
    key = np.minimum(rng.zipf(1.5, rows), 40)
    time = rng.integers(0, 600, rows)
    frame = pd.DataFrame({"key": key, "second": time})
    return frame.sort_values(["key", "second"], ignore_index=True)


def expected(work: float, graph: MatchGraph) -> tuple[int, float]:
    """Component by component, in plain Python."""
    component = graph.components()
    parts = []
    for number in range(component.max() + 1):
        part = graph.part(component == number)
        rows = sum(np.unique(ends).size for ends in part.ends)
        matches = part.ends[0].size
        parts.append((-matches / part.work(COSTS), matches, rows, number, part))
    results, spent = 0, 0.0
    for _, matches, _, _, part in sorted(parts, key=lambda part: part[:4]):
        needed = part.work(COSTS)
        if spent + needed <= work + 1e-9:
            results, spent = results + matches, spent + needed
            continue
        kept = cheapest_matches(work - spent, part, costs=COSTS)
        last = part.subset(kept, COSTS)
        return results + last.results, spent + last.work
    return results, spent


def test_equals_the_local_yardstick(spark: SparkSession) -> None:
    from shedjoin.lab.spark.archive import greedy_max_subset

    rng = np.random.default_rng(5)
    ours = [archive(rng, 700), archive(rng, 500)]
    streams = [Archive(frame["key"], frame["second"]) for frame in ours]
    graph = archived_matches(*streams, before=3, after=8)
    frames = [
        spark.createDataFrame(
            pd.DataFrame(
                {
                    "key": frame["key"].astype(str).str.zfill(2),
                    "time": START + pd.to_timedelta(frame["second"], unit="s"),
                }
            ).sample(frac=1, random_state=1)
        )
        for frame in ours
    ]
    within = Within(before="3 seconds", after="8 seconds")
    full = graph.work(COSTS)
    for share in (0.0, 0.13, 0.6, 2.0):
        found = greedy_max_subset(share * full, *frames, within=within, costs=COSTS)
        results, spent = expected(share * full, graph)
        assert found.results == results
        assert found.work == pytest.approx(spent)
        assert found.of == graph.ends[0].size


def test_says_what_it_needs(spark: SparkSession) -> None:
    from shedjoin.lab.spark.archive import greedy_max_subset

    frame = spark.createDataFrame([(1, START)], "key long, time timestamp")
    other = frame.selectExpr("string(key) AS key", "time")
    unnamed = frame.withColumnRenamed("time", "at")
    stream = spark.readStream.format("rate").load().selectExpr("value key", "timestamp")
    within = Within(after="1 second")
    for wrong, says in ((other, "cast"), (unnamed, "alias"), (stream, "spark.read")):
        with pytest.raises(ParameterError, match=says):
            greedy_max_subset(1, frame, wrong, within=within, costs=COSTS)
