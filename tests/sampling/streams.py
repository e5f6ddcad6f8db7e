"""Short streams of which samples are drawn, and what an unlimited join gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
import pyarrow as pa

from shedjoin import Budget, Options, Within
from shedjoin.lab.workloads.rows import Batches
from shedjoin.lab.workloads.workloads import Frequencies, aged, zipf
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy
from shedjoin.policies.goals import Goal

Name = Literal["direct", "inverse", "uncorrelated", "aged"]
NAMES: tuple[Name, ...] = ("direct", "inverse", "uncorrelated", "aged")
TIMES = ("left_time", "right_time")
_SECONDS = 600
_BATCHES = 3


@dataclass(frozen=True, slots=True)
class Stream:
    """Micro-batches, the window, and what there is without a budget.

    Attributes
    ----------
    held
        Rows that an unlimited window holds on average, of the sides that wait.
    count, total
        All results, and the sum of the left values over them.
    left_waits_alone
        Right rows match earlier left rows only, as clicks match impressions.
    """

    batches: tuple[tuple[pa.Table, pa.Table], ...]
    window_s: int
    held: float
    count: int
    total: float
    left_waits_alone: bool = False

    @property
    def mean(self) -> float:
        """Mean of the left values over all results."""
        return self.total / self.count

    def rows(self, memory: float) -> int:
        """Budget that is a part of what an unlimited window holds."""
        return round(memory * self.held)


@cache
def stream(name: Name, *, rows: int = 2000, window_s: int = 60) -> Stream:
    """One of the workloads, always the same."""
    if name == "aged":
        batches = aged(
            curve="BELL",
            rate=rows / _SECONDS / 2,
            matches=3.0,
            window_s=float(window_s),
            seconds=_SECONDS,
            batches=_BATCHES,
            seed=5,
        )
    else:
        frequencies = Frequencies(keys=40, z=1.0, correlated=name, seed=3)
        batches = zipf(
            frequencies, rows=rows, seconds=_SECONDS, batches=_BATCHES, seed=5
        )
    return known(batches, window_s)


def known(
    batches: Batches,
    window_s: int,
    seconds: int = _SECONDS,
    *,
    left_waits_alone: bool = False,
) -> Stream:
    """A stream with its truth; the notes of its rows are of no use here."""
    lean = tuple(
        (left.drop_columns("left_note"), right.drop_columns("right_note"))
        for left, right in batches
    )
    sides = 1 if left_waits_alone else 2
    there = sum(table.num_rows for tables in lean for table in tables[:sides])
    held = there * window_s / seconds
    unknown = Stream(lean, window_s, held, 0, 0.0, left_waits_alone)
    found = sample(unknown, None, 0).results
    total = float(found["left_value"].to_numpy().sum())
    return replace(unknown, count=found.num_rows, total=total)


def sample(
    stream: Stream, policy: Goal | Policy | None, rows: int, *, shards: int = 1
) -> Run:
    """Join a stream; without a policy there is no budget."""
    length = f"{stream.window_s} seconds"
    before = "0 seconds" if stream.left_waits_alone else length
    return join(
        stream.batches,
        on="key",
        within=Within(before=before, after=length),
        time=TIMES,
        options=Options(shards=shards),
        budget=None if policy is None else Budget(rows=rows),
        keep=policy,
    )


def column(run: Run, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A column of all results."""
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = run.results[
        name
    ].to_numpy()
    return found
