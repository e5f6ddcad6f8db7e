"""Streams of sections 3.2 and 6.2: ages that follow a curve, values of a frequency."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.lab.workloads.rows import Batches, instants_column, micro_batches
from shedjoin.local.streams import START_US
from shedjoin.types import FloatArray, IntArray

SECOND_US = 1_000_000
WINDOW, BUCKETS, VALUES = 500, 20, 50
RATE, OPPOSITE_RATE, RESULTS = 1.0, 5.0, 5.0
TIMES = ("left_time", "right_time")
NORMALS = ("left_normal", "right_normal")
LITERAL = 0.8
"""Rate of times between 1/2r and 2/r, as the paper draws them, for r = 1."""


class Stream(NamedTuple):
    """Micro-batches, and the second from which results count."""

    batches: Batches
    counts_from_s: float


def aged(
    shares: FloatArray, *, seconds: int, warm_s: int, seed: int, rate: float = RATE
) -> Stream:
    """Left rows of unique values; right rows meet left ones of ages by the shares.

    As ``shedjoin.lab.workloads.workloads.aged``, for any curve.
    """
    rng = np.random.default_rng(seed)
    left_s, right_s = (_instants(rng, r, seconds) for r in (rate, RESULTS * rate))
    bucket = rng.choice(BUCKETS, right_s.size, p=shares / shares.sum())
    width_s = WINDOW / BUCKETS
    first = np.searchsorted(left_s, right_s - (bucket + 1) * width_s, side="right")
    end = np.searchsorted(left_s, right_s - bucket * width_s, side="right")
    chosen = first + (rng.random(right_s.size) * (end - first)).astype(np.int64)
    own = -1 - np.arange(right_s.size)
    keys = np.arange(left_s.size), np.where(first < end, chosen, own)
    return _stream(keys, (left_s, right_s), seconds, warm_s)


def keyed(
    left: FloatArray, right: FloatArray, *, seconds: int, warm_s: int, seed: int
) -> Stream:
    """Values of given frequencies on either stream, five on the right for one left.

    Each value has its share of the rows but for rounding (definition 2.1: "a fixed
    fraction"), at random places. Drawn one by one, the rarest values of an inversely
    correlated stream, which match most, come too seldom for steady results.
    """
    rng = np.random.default_rng(seed)
    times = tuple(_instants(rng, r, seconds) for r in (RATE, OPPOSITE_RATE))
    pairs = zip((left, right), times, strict=True)
    keys = [_dealt(rng, share, time.size) for share, time in pairs]
    return _stream((keys[0], keys[1]), (times[0], times[1]), seconds, warm_s)


def valued(stream: Stream, *, seed: int) -> Stream:
    """The same rows, each with a draw from the standard normal distribution.

    The join does not read it: one run serves all means and standard deviations.
    """
    rng = np.random.default_rng((seed, 1))
    batches = [
        tuple(
            table.append_column(name, pa.array(rng.standard_normal(table.num_rows)))
            for table, name in zip(tables, NORMALS, strict=True)
        )
        for tables in stream.batches
    ]
    return stream._replace(batches=[(left, right) for left, right in batches])


def _dealt(rng: np.random.Generator, share: FloatArray, rows: int) -> IntArray:
    """Values in exact shares, shuffled."""
    places = (rng.permutation(rows) + rng.random(rows)) / rows
    below = np.cumsum(share)
    value = np.searchsorted(below / below[-1], places, side="right")
    return np.minimum(value, share.size - 1)


def exactly_aged(curve: tuple[int, ...], *, steps: int) -> Stream:
    """One left row per second; each meets ``curve[k]`` rows at age k and a half."""
    left_s: FloatArray = np.arange(1, steps + 1, dtype=np.float64)
    age = np.repeat(np.arange(len(curve)), curve)
    now = np.repeat(np.arange(1, steps + 1), age.size)
    met = now - np.tile(age, steps)
    there = met >= 1
    keys = np.arange(1, steps + 1), met[there]
    right_s: FloatArray = now[there] + np.float64(0.5)
    return _stream(keys, (left_s, right_s), steps + 1, 0, batches=1)


def _stream(
    keys: tuple[IntArray, IntArray],
    times_s: tuple[FloatArray, FloatArray],
    seconds: int,
    warm_s: float,
    batches: int = 20,
) -> Stream:
    tables = []
    for side in (0, 1):
        time_us = START_US + (times_s[side] * SECOND_US).astype(np.int64)
        columns = {"key": pa.array(keys[side]), TIMES[side]: instants_column(time_us)}
        tables.append(pa.table(columns))
    return Stream(micro_batches(tables, TIMES, seconds, batches), warm_s)


def _instants(rng: np.random.Generator, rate: float, seconds: int) -> FloatArray:
    """Times between arrivals are 0.4/rate to 1.6/rate: their mean is one over it."""
    gaps = rng.uniform(0.4 / rate, 1.6 / rate, int(1.2 * seconds * rate) + 100)
    instants: FloatArray = np.cumsum(gaps)
    return instants[instants < seconds]
