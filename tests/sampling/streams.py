"""Short streams of which samples are drawn, and what an unlimited join gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pyarrow as pa

from shedjoin import Budget, Within
from shedjoin.datasets.rows import Batches
from shedjoin.datasets.workloads import Frequencies, aged, zipf
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy

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
        Rows of both sides that an unlimited window holds on average.
    count, total
        All results, and the sum of the left values over them.
    """

    batches: tuple[tuple[pa.Table, pa.Table], ...]
    window_s: int
    held: float
    count: int
    total: float

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


def known(batches: Batches, window_s: int, seconds: int = _SECONDS) -> Stream:
    """A stream with its truth; the notes of its rows are of no use here."""
    lean = tuple(
        (left.drop_columns("left_note"), right.drop_columns("right_note"))
        for left, right in batches
    )
    there = sum(table.num_rows for tables in lean for table in tables)
    held = there * window_s / seconds
    found = sample(Stream(lean, window_s, held, 0, 0.0), None, 0).results
    value = found["left_value"].to_numpy()
    return Stream(lean, window_s, held, found.num_rows, float(value.sum()))


def sample(stream: Stream, policy: Policy | None, rows: int, *, shards: int = 1) -> Run:
    """Join a stream; without a policy there is no budget."""
    length = f"{stream.window_s} seconds"
    return join(
        stream.batches,
        on="key",
        within=Within(before=length, after=length),
        time=TIMES,
        shards=shards,
        budget=None if policy is None else Budget(rows=rows),
        keep=policy,
    )


def column(run: Run, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A column of all results."""
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = run.results[
        name
    ].to_numpy()
    return found
