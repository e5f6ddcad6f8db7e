"""Joins under a throttle, over streams of known rates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin import Budget, Within, local
from shedjoin.lab.plan import Costs
from shedjoin.policies import LoadPolicy
from shedjoin.types import FloatArray

SETTLE_WINDOWS = 4
"""Windows until results count: rates are learned, and the throttle has taken effect."""


class Setting(NamedTuple):
    """Rates of each value on both streams per second, windows and costs."""

    left: FloatArray
    right: FloatArray
    left_window: float
    right_window: float
    costs: Costs


class Measured(NamedTuple):
    """Results and work per second."""

    results: float
    work: float


def run(
    setting: Setting,
    policy: LoadPolicy | None,
    share: float,
    *,
    windows: int,
    seed: int,
) -> Measured:
    """Join two streams; with a policy only a share of the work is done."""
    unit = max(setting.left_window, setting.right_window)
    batches = [
        (
            table(setting.left, unit, number, seed),
            table(setting.right, unit, number, ~seed),
        )
        for number in range(windows)
    ]
    costs = setting.costs
    told = {"share": share, "update": costs.update, "match": costs.match}
    done = local.join(
        batches,
        on="value",
        within=Within(
            before=f"{setting.right_window} seconds",
            after=f"{setting.left_window} seconds",
        ),
        time=("time", "time"),
        budget=Budget(cpu=1.0),
        keep=policy,
        control={1: [{"throttle": told}]} if policy is not None else None,
    )
    counted = done.batches[SETTLE_WINDOWS:]
    seconds = unit * len(counted)
    results = sum(batch.results.num_rows for batch in counted) / seconds
    stored = sum(sum(batch.report.stored) for batch in counted) / seconds
    return Measured(results, stored * costs.update + results * costs.match)


def table(rates: FloatArray, unit: float, number: int, seed: int) -> pa.Table:
    """Poisson arrivals of one window's length."""
    rng = np.random.default_rng([abs(seed), int(seed < 0), number])
    count = rng.poisson(rates.sum() * unit)
    time = np.sort(rng.random(count)) * unit + number * unit
    return pa.table(
        {
            "value": rng.choice(rates.size, count, p=rates / rates.sum()),
            "time": pa.array((time * 1e6).astype(np.int64), pa.timestamp("us")),
        }
    )
