"""Streams whose rows come out of order, and how estimates of their windows turn out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin import Budget, Within
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy
from shedjoin.sampling.intervals import Interval, cluster_interval
from shedjoin.types import BoolArray, FloatArray, IntArray

START, WINDOW_S, PER_WINDOW, KEYS = 1_700_000_000, 20, 200, 40
COLUMNS = (("left_time", "value"), ("right_time", "note"))
TIMES = ("left_time", "right_time")
Batches = Sequence[tuple[pa.Table, pa.Table]]


class Disorder(NamedTuple):
    """Half of the rows come up to ``behind`` windows later than they should."""

    behind: float
    both: bool
    memory: float

    @property
    def rows(self) -> int:
        """Budget: a part of what has to be held for exact results."""
        return round(self.memory * 2 * PER_WINDOW * (1 + self.behind))

    def batches(self, windows: int, seed: int) -> Batches:
        """Two micro-batches in each window."""
        rng = np.random.default_rng(seed)
        sides = []
        for side in (0, 1):
            time = np.sort(rng.uniform(0, windows * WINDOW_S, windows * PER_WINDOW))
            late = (rng.random(time.size) < 0.5) & (self.both or side == 1)
            delay = late * rng.uniform(0, self.behind * WINDOW_S, time.size)
            place = (2 * (time + delay) / WINDOW_S).astype(int)
            sides.append((time, place))
        return [
            (
                table(0, sides[0][0][sides[0][1] == number], rng),
                table(1, sides[1][0][sides[1][1] == number], rng),
            )
            for number in range(2 * windows)
        ]


def table(side: int, time_s: FloatArray, rng: np.random.Generator) -> pa.Table:
    """Rows of one side at some times, with random keys and values."""
    name, value = COLUMNS[side]
    time = ((START + time_s) * 1e6).astype(np.int64)
    columns = {
        "key": rng.integers(0, KEYS, time.size),
        name: pa.array(time, pa.timestamp("us", "UTC")),
        value: rng.lognormal(0.0, 0.5, time.size),
    }
    return pa.table(columns)


def joined(batches: Batches, lateness_s: float, **budget: Any) -> Run:  # noqa: ANN401
    """Join both sides within a window."""
    length = f"{WINDOW_S} seconds"
    return join(
        batches,
        on="key",
        within=Within(before=length, after=length),
        time=TIMES,
        lateness=f"{round(lateness_s)} seconds",
        **budget,
    )


def window_of(results: pa.Table) -> IntArray:
    """The window of each result, by the later of its times."""
    left, right = (results[name].cast(pa.int64()).to_numpy() for name in TIMES)
    found: IntArray = (np.maximum(left, right) // 1_000_000 - START) // WINDOW_S
    return found


def interval_of(results: pa.Table, rows: BoolArray) -> Interval:
    """Estimate the sum of the values over some of the results."""
    names = ("_weight", "_cluster", "value")
    weight, cluster, value = (results[name].to_numpy()[rows] for name in names)
    return cluster_interval(weight, cluster, value)


class Windows(NamedTuple):
    """For each window: the estimate over the truth, whether its interval holds."""

    ratio: FloatArray
    holds: BoolArray
    trusted: BoolArray

    @property
    def bias(self) -> float:
        """Standard errors by which the mean estimate is off."""
        error = self.ratio.std() / np.sqrt(self.ratio.size)
        return float((self.ratio.mean() - 1.0) / error)

    def __str__(self) -> str:
        return (
            f"{self.ratio.size} windows: mean {self.ratio.mean():.3f}, "
            f"hold {self.holds.mean():.3f}, trusted {self.trusted.mean():.3f}, "
            f"trusted and wrong {(self.trusted & ~self.holds).mean():.3f}"
        )


def estimated(disorder: Disorder, policy: Policy, windows: int, seed: int) -> Windows:
    """Estimate the sum of every window from a sample; the lateness is declared."""
    batches = disorder.batches(windows, seed)
    lateness_s = disorder.behind * WINDOW_S
    exact = joined(batches, lateness_s).results
    budget = Budget(rows=disorder.rows)
    sample = joined(batches, lateness_s, budget=budget, keep=policy).results
    truth = np.bincount(window_of(exact), exact["value"].to_numpy())
    window = window_of(sample)
    found = [interval_of(sample, window == number) for number in range(windows)]
    value, low, high = (
        np.array([getattr(one, name) for one in found])
        for name in ("value", "low", "high")
    )
    rounding = 1e-9 * truth
    return Windows(
        value / truth,
        (low - rounding <= truth) & (truth <= high + rounding),
        np.array([one.trusted for one in found]),
    )


def together(parts: Sequence[Windows]) -> Windows:
    """Windows of several runs."""
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))
