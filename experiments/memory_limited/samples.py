"""Samples of the left window's results, and averages estimated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from experiments.memory_limited.runs import LeftOnly, result_times, run
from experiments.memory_limited.streams import NORMALS, Stream
from shedjoin.local.run import Run
from shedjoin.policies import EqCluster, Policy, PpsCluster, Residents, Uniform
from shedjoin.policies.samples import ByLot, by_lot
from shedjoin.types import BoolArray, FloatArray, IntArray

AGGREGATE_S = 500
"""How far back an average goes."""


@dataclass(frozen=True, slots=True)
class LeftEq(LeftOnly, EqCluster):
    """EQ-CLUSTER."""


@dataclass(frozen=True, slots=True)
class LearnedPps(LeftOnly, PpsCluster):
    """PPS-CLUSTER with the frequencies that the operator learns."""


@dataclass(frozen=True, slots=True)
class LearnedUniform(LeftOnly, Uniform):
    """UNIFORM with the frequencies and the fraction that the operator learns."""


@dataclass(frozen=True, slots=True)
class TruePps(LeftOnly, ByLot):
    """PPS-CLUSTER with the true frequencies of the right stream, and by them alone."""

    frequencies: tuple[float, ...]
    seed: int = 0

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: how often its value comes on the right, over its lot."""
        size = np.array(self.frequencies)[residents.key]
        return by_lot(self.seed, size, residents)


@dataclass(frozen=True, slots=True)
class TrueUniform(LeftOnly, ByLot):
    """UNIFORM that is told its fraction and how many results a row of a value has."""

    part: float
    results: tuple[int, ...]
    seed: int = 0
    thins: ClassVar[bool] = True
    tosses: ClassVar[bool] = True

    def thin(self, arrivals: Residents) -> FloatArray:
        """Probability with which each match is emitted."""
        return np.full(arrivals.key.size, self.part)

    def coins(self, arrivals: Residents) -> IntArray:
        """Matches that each row is expected to have."""
        count: IntArray = np.array(self.results, np.int64)[arrivals.key]
        return count

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: one over its lot, if the memory does not suffice."""
        return by_lot(self.seed, np.ones(residents.key.size), residents)


class Averages(NamedTuple):
    """Averages over the latest results, instant by instant, of either side's normals.

    Without a result there is none: ``known`` says where there are some.
    """

    known: BoolArray
    normal: tuple[FloatArray, FloatArray]
    rows: int


def averages(found: Run, instants: FloatArray, *, weighted: bool) -> Averages:
    """Averages of the standard normals that the results carry."""
    time = result_times(found)
    order = np.argsort(time, kind="stable")
    weight = np.ones(time.size)
    if weighted:
        weight = found.results["_weight"].to_numpy()[order]
    first = np.searchsorted(time[order], instants - AGGREGATE_S, side="left")
    end = np.searchsorted(time[order], instants, side="right")
    known = first < end

    def total(column: FloatArray) -> FloatArray:
        below = np.append(0.0, np.cumsum(column))
        summed: FloatArray = below[end] - below[first]
        return summed

    # Left over from a cumulated sum, a total of no rows need not be exactly zero.
    weights = np.where(known, total(weight), 1.0)
    left, right = (
        total(weight * found.results[name].to_numpy()[order]) / weights
        for name in NORMALS
    )
    return Averages(known, (left, right), time.size)


class Errors(NamedTuple):
    """Of one run: sums over its instants, to be added up over runs."""

    relative: float
    absolute: float
    estimated: int
    empty: int
    sampled: int
    rows: int


@dataclass(frozen=True, slots=True)
class SampledTrial:
    """A stream with its exact averages."""

    stream: Stream
    instants: FloatArray
    exact: Averages

    @staticmethod
    def of(stream: Stream, seconds: int) -> SampledTrial:
        """Join the stream exactly; averages are taken every second."""
        instants = np.arange(stream.counts_from_s, seconds + 1)
        found = averages(run(stream, None, 0), instants, weighted=False)
        return SampledTrial(stream, instants, found)

    def sample(self, policy: Policy, memory: int) -> Averages:
        """Averages by a sample that fits the memory."""
        found = run(self.stream, policy, memory)
        return averages(found, self.instants, weighted=True)

    def errors(self, found: Averages, side: int, variation: float) -> Errors:
        """Errors for values of mean 1 and this standard deviation."""
        both = self.exact.known & found.known
        exact, estimate = (
            1.0 + variation * one.normal[side][both] for one in (self.exact, found)
        )
        away = np.abs(estimate - exact)
        return Errors(
            relative=float((away / np.abs(exact)).sum()),
            absolute=float(away.sum()),
            estimated=int(both.sum()),
            empty=int((self.exact.known & ~found.known).sum()),
            sampled=found.rows,
            rows=self.exact.rows,
        )
