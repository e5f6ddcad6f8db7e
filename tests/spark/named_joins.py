"""Joins by name over one pair of streams: exact, and under a budget by policies.

A process that runs one of them is told its name; the test that checks it takes the
same name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import shedjoin
from shedjoin import Band, Budget, MostImportant, MostResults, Sample, Within
from shedjoin.local.join import join as local_join
from shedjoin.policies import IJoin, PpsCluster
from support.asked import asked

from .budgets import Tables
from .frames import TIMES, as_streams
from .queries import Rows
from .slow import SlowIJoin, slow_first_attempt
from .sources import Sources

ROWS = 200
KEYS = 150
SECONDS = 10
START_US = 1_700_000_000_000_000
WINDOW = Within(before="30 seconds", after="1 minute")
DELAY = "5 seconds"
PAIR = ("left", "right")

_BUDGET = Budget(rows=300)
_PRICE = ("left_price", None)
_NEAR = ["k", Band({"left": "left_price", "right": "right_price"}, 10.0)]
JOINS: dict[str, dict[str, Any]] = {
    "exact": {},
    "results": {"budget": _BUDGET, "keep": MostResults()},
    "ijoin": {
        "budget": _BUDGET,
        "keep": MostImportant(_PRICE, by=IJoin(maturity="1 second")),
    },
    "sample": {"budget": _BUDGET, "keep": Sample(by=PpsCluster(seed=3))},
    "steered": {"budget": _BUDGET, "keep": MostResults()},
    "timed": {"budget": Budget(cpu="50 milliseconds")},
    "harvest": {"on": _NEAR, "budget": Budget(cpu=0.5)},
    "bounded": {"on": _NEAR, "budget": _BUDGET, "keep": MostResults()},
    "slow exact": {},
    "slow ijoin": {
        "budget": _BUDGET,
        "keep": MostImportant(_PRICE, by=SlowIJoin(maturity="1 second")),
    },
}
"""Arguments of each join. The slow ones equal those without "slow" in all but pace."""

THROTTLE = {"share": 0.3}
"""Of ``harvest``. Its queries have no trigger interval, so nobody changes it."""

SHUFFLED = ("ijoin", "sample")
"""Their results are shuffled: an executor that is lost takes them along, and what has
been done and committed is done once more."""


def columns(name: str) -> tuple[str, ...]:
    """Columns of the results that are looked at."""
    return (*PAIR, "_weight", "_cluster") if name == "sample" else PAIR


def streams(seed: int, batches: int) -> Tables:
    """Micro-batches with rows on both sides, no two of them at the same time.

    The latest rows of a micro-batch are later than all before, so that the watermark
    is the same for a query that was restarted. Some rows are an hour late.
    """
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, KEYS + 1) ** -0.6
    made = []
    for number in range(batches):
        step = SECONDS * 1_000_000 // (2 * ROWS)
        time = START_US + 1_000_000 * SECONDS * number + np.arange(2 * ROWS) * step
        rng.shuffle(time[: -ROWS // 4])
        time[rng.choice(2 * ROWS - ROWS // 4, ROWS // 20)] -= 3_600_000_000
        sides = []
        for side, name in enumerate(PAIR):
            drawn = {
                "k": rng.choice(KEYS, ROWS, p=frequency / frequency.sum()),
                TIMES[side]: pa.array(time[side::2], pa.timestamp("us", "UTC")),
                name: np.arange(ROWS) + ROWS * number,
                f"{name}_price": rng.gamma(2.0, 3.0, ROWS),
            }
            sides.append(pa.table(drawn))
        made.append((sides[0], sides[1]))
    return made


def joined(spark: SparkSession, sources: Sources, name: str) -> DataFrame:
    """The join of this name over the files of a folder."""
    left, right = as_streams(sources.read(spark), DELAY)
    if name == "slow exact":
        left = left.mapInArrow(slow_first_attempt, left.schema)
    options = {"on": "k", "within": WINDOW, **JOINS[name]}
    if name in ("steered", "timed", "harvest"):
        control = shedjoin.Control(sources.folder.parent / "control")
        if name == "harvest" and not control.sent():
            control.send(throttle=THROTTLE)
        options["control"] = control
    results = shedjoin.join(left, right, **asked(options)).select(*columns(name))
    return results.repartition(3) if name in SHUFFLED else results


def locally(sent: Tables, name: str, **more: object) -> Rows:
    """The same join in this process, in as many shards as the tests' sessions have."""
    options: dict[str, Any] = {"on": "k", "within": WINDOW, "time": TIMES}
    options |= {**JOINS[name], **more}
    if name == "harvest":
        options["control"] = {0: [{"throttle": THROTTLE}]}
    found = local_join(
        sent, lateness=(DELAY, DELAY), options=shedjoin.Options(shards=2), **options
    ).results
    values = [found[column].to_pylist() for column in columns(name)]
    return list(zip(*values, strict=True))


def locate(folder: Path, name: str) -> Path:
    """Where checkpoint and results of a join are."""
    return folder / name.replace(" ", "_")
