"""Streams of known frequencies, as the plan sees them and as they come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from shedjoin.lab.plan import FrequencyModel
from shedjoin.lab.workloads.workloads import Correlation, Frequencies, zipf
from shedjoin.local.run import Run
from shedjoin.local.streams import START_US
from shedjoin.policies import Residents
from shedjoin.policies.samples import Uniform
from shedjoin.types import IntArray

from .streams import Stream, known

WINDOW_S = 100
BATCH_S = 50
RATE = 10.0
KEYS = 50


def frequencies(correlated: Correlation) -> Frequencies:
    return Frequencies(keys=KEYS, correlated=correlated, seed=2)


def windows(correlated: Correlation) -> tuple[FrequencyModel, FrequencyModel]:
    """Both windows as the plan sees them, told the true frequencies."""
    by_rank = frequencies(correlated).by_rank
    left, right = by_rank(0).tolist(), by_rank(1).tolist()
    rates = {"rate": RATE, "opposite_rate": RATE}
    return (
        FrequencyModel(left, right, WINDOW_S, **rates),
        FrequencyModel(right, left, WINDOW_S, **rates),
    )


@cache
def streams(correlated: Correlation, seconds: int = 1200) -> Stream:
    """The same as rows, of 1000 a side in a window."""
    batches = zipf(
        frequencies(correlated),
        rows=int(RATE * seconds),
        seconds=seconds,
        batches=seconds // BATCH_S,
        seed=4,
    )
    return known(batches, WINDOW_S, seconds)


def residents(run: Run, *, after: int = 8) -> list[int]:
    """Residents of both sides at the end of each micro-batch, later ones alone."""
    reports = [batch.report for batch in run.batches[after:]]
    return [report.resident[0] + report.resident[1] for report in reports]


def held(run: Run, *, after: int = 8) -> float:
    """Mean number of residents in their window, from how long they stayed.

    Those that have expired wait for the watermark, which is a micro-batch behind;
    where nothing presses they are there, and do not count.
    """
    reports = [batch.report for batch in run.batches[after:]]
    return sum(report.lifetimes for report in reports) / (BATCH_S * len(reports))


@dataclass(frozen=True, slots=True)
class Told(Uniform):
    """A uniform sample that is told how many matches to expect."""

    correlated: Correlation = "direct"

    def coins(self, arrivals: Residents) -> IntArray:
        return np.maximum(1.0, np.rint(true_matches(self.correlated, arrivals))).astype(
            np.int64
        )


def true_matches(
    correlated: Correlation, rows: Residents
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Matches of rows in all their life, on average."""
    known_ones = frequencies(correlated)
    left, right = (known_ones.at(side, START_US) for side in (0, 1))
    opposite = np.where(rows.stream == 0, right[rows.key], left[rows.key])
    return np.asarray(RATE * WINDOW_S * opposite)
