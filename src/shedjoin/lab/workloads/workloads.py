"""Synthetic streams that follow the models of load shedding, with true parameters.

In one, keys have given frequencies that drift; in the other, matches have given ages.
Both return micro-batches of (left, right) tables whose rows are some 100 bytes long.
All take a seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.errors import ParameterError
from shedjoin.lab.workloads.rows import (
    Batches,
    instants_column,
    micro_batches,
    text_column,
)
from shedjoin.local.streams import START_US
from shedjoin.types import IntArray

Floats: TypeAlias = npt.NDArray[np.float64]
Correlation: TypeAlias = Literal["direct", "inverse", "uncorrelated"]
Curve: TypeAlias = Literal["INC", "DEC", "BELL"]

NAMES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Frequencies of keys on both streams: Zipf, with a ranking that drifts.

    Parameters
    ----------
    keys : int
        Size of the domain; keys are 0 to ``keys - 1``.
    z : float, default 1.0
        The key at rank r (from 1) comes with a frequency proportional to ``r ** -z``.
    correlated : str, default "direct"
        Rank of a key on the right: the same, the reverse, or unrelated.
    drift_s : int, default 0
        The ranking changes every so many seconds; 0 for never.
    drift_part : float, default 0.1
        The part of the ranks, drawn each time, whose keys change places.
    seed : int, default 0
        Seed of the rankings.
    """

    keys: int
    z: float = 1.0
    correlated: Correlation = "direct"
    drift_s: int = 0
    drift_part: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.correlated not in ("direct", "inverse", "uncorrelated"):
            raise ParameterError(
                f"Frequencies(correlated={self.correlated!r}) is not known.",
                fix='pass "direct", "inverse" or "uncorrelated".',
            )

    def at(self, side: int, time_us: int) -> Floats:
        """True frequency of every key at an event time; they sum to one."""
        frequencies = np.empty(self.keys)
        ranking = next(islice(self.rankings(), self.epoch(time_us), None))
        frequencies[ranking] = self.by_rank(side)
        return frequencies

    def epoch(self, time_us: int) -> int:
        """Number of changes of the ranking up to an event time."""
        since_us = max(0, time_us - START_US)
        return since_us // (self.drift_s * 1_000_000) if self.drift_s else 0

    def by_rank(self, side: int) -> Floats:
        """Frequencies in the order of the left stream's ranks."""
        weights = np.arange(1, self.keys + 1, dtype=np.float64) ** -self.z
        weights /= weights.sum()
        if side == 0 or self.correlated == "direct":
            return weights
        if self.correlated == "inverse":
            return weights[::-1].copy()
        return np.random.default_rng([self.seed, 1]).permutation(weights)

    def rankings(self) -> Iterator[IntArray]:
        """Yield the keys by rank on the left stream, at first and after each change."""
        rng = np.random.default_rng(self.seed)
        ranking = rng.permutation(self.keys)
        while True:
            yield ranking.copy()
            places = rng.choice(
                self.keys, round(self.drift_part * self.keys), replace=False
            )
            ranking[places] = ranking[np.roll(places, 1)]


def zipf(
    frequencies: Frequencies, *, rows: int, seconds: int, batches: int, seed: int
) -> Batches:
    """Two streams of equal rate whose keys come with the given frequencies.

    ``rows`` is the number of rows of each stream, at random instants.
    """
    rng = np.random.default_rng(seed)
    tables = []
    for side in (0, 1):
        time_us = START_US + np.sort(rng.integers(0, seconds * 1_000_000, rows))
        below = np.cumsum(frequencies.by_rank(side))
        rank = np.searchsorted(below, rng.random(rows) * below[-1], side="right")
        key = np.empty(rows, np.int64)
        epochs = range(frequencies.epoch(START_US + seconds * 1_000_000) + 1)
        step_us = frequencies.drift_s * 1_000_000
        starts = np.searchsorted(time_us, [START_US + n * step_us for n in epochs])
        cuts = pairwise([*starts, rows])
        for ranking, (a, b) in zip(frequencies.rankings(), cuts, strict=False):
            key[a:b] = ranking[rank[a:b]]
        tables.append(_table(rng, side, key, time_us))
    return micro_batches(tables, ("left_time", "right_time"), seconds, batches)


def age_curve(curve: Curve, *, matches: float = 5.0, buckets: int = 20) -> Floats:
    """True age curve: mean matches of a left row in each part of the window, p(k).

    The window is cut into equal ``buckets``, the youngest first. INC is proportional
    to ``k ** 2``, DEC to ``(m - k) ** 2``, BELL to the first up to the middle and to
    the second after it (section 6.2.2 of Srivastava and Widom, VLDB 2004).
    """
    k = np.arange(1, buckets + 1, dtype=np.float64)
    if curve not in ("INC", "DEC", "BELL"):
        raise ParameterError(
            f"age_curve({curve!r}) is not known.", fix='pass "INC", "DEC" or "BELL".'
        )
    rising = {"INC": k > 0, "DEC": k < 0, "BELL": k <= buckets / 2}[curve]
    shape = np.where(rising, k, buckets - k) ** 2
    scaled: Floats = matches * shape / shape.sum()
    return scaled


def aged(  # noqa: PLR0913  (the paper's parameters; all by keyword)
    *,
    curve: Curve,
    rate: float,
    seconds: int,
    batches: int,
    seed: int,
    window_s: float = 500.0,
    matches: float = 5.0,
    buckets: int = 20,
) -> Batches:
    """Streams in which the matches of a left row come at ages that follow a curve.

    Left rows have keys of their own and come at ``rate`` per second, right rows at
    ``matches * rate``. A right row draws a bucket of the age curve and takes the key
    of one of the left rows of that age; if there is none, as in the first window, it
    gets a key of its own.

    Times between arrivals are uniform with a mean of exactly one over the rate. The
    paper (section 6.2) draws them between 1/2r and 2/r, whose mean is 1.25/r; here
    both ends are divided by 1.25.
    """
    rng = np.random.default_rng(seed)
    left_s, right_s = (_instants(rng, r, seconds) for r in (rate, matches * rate))
    shares = age_curve(curve, matches=1.0, buckets=buckets)
    bucket = rng.choice(buckets, right_s.size, p=shares)
    width_s = window_s / buckets
    first = np.searchsorted(left_s, right_s - (bucket + 1) * width_s, side="right")
    end = np.searchsorted(left_s, right_s - bucket * width_s, side="right")
    chosen = first + (rng.random(right_s.size) * (end - first)).astype(np.int64)
    keys = (
        np.arange(left_s.size),
        np.where(first < end, chosen, -1 - np.arange(right_s.size)),
    )
    times_us = [START_US + (s * 1_000_000).astype(np.int64) for s in (left_s, right_s)]
    tables = [_table(rng, side, keys[side], times_us[side]) for side in (0, 1)]
    return micro_batches(tables, ("left_time", "right_time"), seconds, batches)


def _instants(rng: np.random.Generator, rate: float, seconds: int) -> Floats:
    """Seconds of arrivals; the times between them are 0.4/rate to 1.6/rate."""
    gaps = rng.uniform(0.4 / rate, 1.6 / rate, int(2.5 * seconds * rate) + 1)
    instants: Floats = np.cumsum(gaps)
    return instants[instants < seconds]


def _table(
    rng: np.random.Generator, side: int, key: IntArray, time_us: IntArray
) -> pa.Table:
    columns: dict[str, Any] = {
        "key": key,
        f"{NAMES[side]}_time": instants_column(time_us),
        f"{NAMES[side]}_value": rng.random(key.size),
        f"{NAMES[side]}_note": text_column(rng, key.size, 72),
    }
    return pa.table(columns)
