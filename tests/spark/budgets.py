"""Joins under a budget: the same micro-batches on Spark and without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Budget
from shedjoin.local.join import join as local_join
from shedjoin.policies import Policy
from shedjoin.policies.goals import Goal
from support.asked import asked

from .frames import MINUTE, TIMES, as_streams
from .queries import Rows, Run, run
from .sources import Sources

ROWS = 400
START_US = 1_700_000_000_000_000
Tables = list[tuple[pa.Table, pa.Table]]


def streams(seed: int, batches: int, *, big: int = 0) -> Tables:
    """Rows in order of time, no two at the same; now and then a large one."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(batches):
        time = START_US + 20_000_000 * number + np.arange(2 * ROWS) * 25_000
        rng.shuffle(time)
        sides = []
        for side, name in enumerate(("left", "right")):
            note = ["x" * 40] * ROWS
            if big:
                note[int(rng.integers(ROWS))] = "y" * big
            columns = {
                "k": rng.zipf(1.5, ROWS) % 50,
                TIMES[side]: pa.array(
                    np.sort(time[side::2]), pa.timestamp("us", "UTC")
                ),
                name: np.arange(ROWS) + ROWS * number,
                f"{name}_note": note,
                f"{name}_price": rng.gamma(2.0, 3.0, ROWS),
                f"{name}_kind": rng.choice(["a", "b", "c"], ROWS).tolist(),
            }
            sides.append(pa.table(columns))
        made.append((sides[0], sides[1]))
    return made


def on_spark(
    spark: SparkSession,
    folder: Path,
    sent: Tables,
    columns: tuple[str, ...],
    **options: Budget | Goal | Policy,
) -> Run:
    """Run half of the micro-batches, stop, and go on with the rest."""
    half = len(sent) // 2
    sources = Sources(folder / "in").write(sent[:half])
    frames = as_streams(sources.read(spark), delay="10 seconds")
    settings: dict[str, Any] = {"on": "k", "within": MINUTE, **options}
    slim = shedjoin.join(*frames, **asked(settings)).select(*columns)
    before = run(slim, folder / "out")
    sources.write(sent[half:], first=half)
    after = run(slim, folder / "out")
    return Run(after.rows, before.progress + after.progress)


def locally(
    sent: Tables, columns: tuple[str, ...], **options: Budget | Goal | Policy
) -> Rows:
    """Join in this process, in as many shards as the tests' session has."""
    settings: dict[str, Any] = {"on": "k", "within": MINUTE, "time": TIMES, **options}
    delays = "10 seconds", "10 seconds"
    results = local_join(
        sent, lateness=delays, options=shedjoin.Options(shards=2), **settings
    ).results
    return sorted(zip(*(results[name].to_pylist() for name in columns), strict=True))
