"""Many samples of one stream: what they estimate, and what their intervals hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.policies import Policy
from shedjoin.policies.goals import Goal
from shedjoin.sampling.horvitz_thompson import TRUSTED_FROM
from shedjoin.sampling.intervals import Interval, cluster_interval
from shedjoin.types import BoolArray, FloatArray

from .streams import Stream, column, sample

Drawn: TypeAlias = Callable[..., Goal | Policy]
"""What draws samples; takes a seed."""
WHAT = ("count", "sum", "mean")


class Estimates(NamedTuple):
    """Columns are count, sum and mean; there is a row for each sample.

    Attributes
    ----------
    value
        Estimates over the exact values.
    holds
        Whether the 95 % interval holds the exact value.
    effective
        Effective clusters.
    """

    value: FloatArray
    holds: BoolArray
    effective: FloatArray

    @property
    def bias(self) -> FloatArray:
        """Mean error, in standard errors of that mean."""
        error = self.value.std(axis=0, ddof=1) / np.sqrt(len(self.value))
        found: FloatArray = (self.value.mean(axis=0) - 1.0) / error
        return found

    @property
    def coverage(self) -> FloatArray:
        """Share of the intervals that hold the exact value."""
        found: FloatArray = self.holds.mean(axis=0)
        return found

    @property
    def trusted(self) -> FloatArray:
        """Share of the intervals that are trusted."""
        found: FloatArray = (self.effective >= TRUSTED_FROM).mean(axis=0)
        return found

    def __str__(self) -> str:
        lines = []
        for place, what in enumerate(WHAT):
            figures = (
                f"z {self.bias[place]:+.2f}",
                f"sd {self.value[:, place].std():.3f}",
                f"coverage {self.coverage[place]:.3f}",
                f"trusted {self.trusted[place]:.2f}",
                f"effective {np.median(self.effective[:, place]):.0f}",
            )
            lines.append(f"{what}: {', '.join(figures)}")
        return "\n".join(lines)


def estimates(stream: Stream, drawn: Drawn, memory: float, runs: int) -> Estimates:
    """Draw samples that differ in their seeds alone."""
    truth = np.array([stream.count, stream.total, stream.mean])
    found: list[list[Interval]] = []
    for seed in range(runs):
        run = sample(stream, drawn(seed=seed), stream.rows(memory))
        weight, value = column(run, "_weight"), column(run, "left_value")
        cluster = run.results["_cluster"].to_numpy()
        found.append(
            [
                cluster_interval(weight, cluster),
                cluster_interval(weight, cluster, value),
                cluster_interval(weight, cluster, value, mean=True),
            ]
        )
    each = np.array(found)  # sample, what, field of the interval
    low, high = each[:, :, 2], each[:, :, 3]
    return Estimates(
        each[:, :, 0] / truth, (low <= truth) & (truth <= high), each[:, :, 4]
    )
