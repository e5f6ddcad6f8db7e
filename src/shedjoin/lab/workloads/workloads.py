"""Synthetic streams that follow the models of load shedding, with known parameters.

In :func:`zipf`, keys have given frequencies, which drift. In :func:`aged`, matches have
given ages. Both return micro-batches of (left, right) tables whose rows have about 100
bytes. Both take a seed.
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
    """Zipf frequencies of keys on both streams, with a ranking that drifts.

    Parameters
    ----------
    keys : int
        Number of keys, which are 0 to ``keys - 1``.
    z : float, default 1.0
        The frequency of the key at rank r, counted from 1, is proportional to
        ``r ** -z``.
    correlated : {"direct", "inverse", "uncorrelated"}, default "direct"
        Rank of a key on the right stream: the same as on the left, the reverse, or
        unrelated.
    drift_s : int, default 0
        Number of seconds after which the ranking changes. With 0, it never changes.
    drift_part : float, default 0.1
        Part of the ranks whose keys change places. These ranks are drawn each time.
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
        """Frequencies on one stream, in the order of the ranks on the left stream."""
        weights = np.arange(1, self.keys + 1, dtype=np.float64) ** -self.z
        weights /= weights.sum()
        if side == 0 or self.correlated == "direct":
            return weights
        if self.correlated == "inverse":
            return weights[::-1].copy()
        return np.random.default_rng([self.seed, 1]).permutation(weights)

    def rankings(self) -> Iterator[IntArray]:
        """Yield the keys by rank on the left stream, first and after each change."""
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
    """Two streams of equal rate, whose keys have the given frequencies.

    ``rows`` is the number of rows of each stream. They come at random instants.
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
    """True age curve p(k): expected matches of a left row in each part of the window.

    The window is cut into m equal ``buckets``, the youngest first. INC is proportional
    to ``k ** 2``, and DEC to ``(m - k) ** 2``. BELL is proportional to ``k ** 2`` up to
    the middle of the window, and to ``(m - k) ** 2`` after it (section 6.2.2 of
    Srivastava and Widom, VLDB 2004).
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

    Left rows have different keys and come at ``rate`` per second. Right rows come at
    ``matches * rate``. For each right row, a bucket of the age curve is drawn. The row
    gets the key of one of the left rows of that age. If there is none, as in the first
    window, it gets a key that no other row has.

    Times between arrivals are uniform, and their mean is exactly 1 / rate. The paper
    (section 6.2) draws them between 1/2r and 2/r, so that their mean is 1.25/r. Here
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
    """Times of arrivals in seconds; they are 0.4/rate to 1.6/rate apart."""
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
