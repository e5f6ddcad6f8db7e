"""One run of the operator with memory for the left window alone, and its recall."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import numpy as np
import pyarrow as pa

from experiments.memory_limited.streams import SECOND_US, TIMES, WINDOW, Stream
from shedjoin import Amortised, Budget, Options, Within
from shedjoin.lab.plan import priorities
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.local.streams import START_US
from shedjoin.policies import Age, Policy, Prob, Recent, Residents, UntilExpiry
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.types import FloatArray, IntArray

EVERY_SHED = Amortised(part=1e-9)
"""Scores anew at every shed, as with ``Successive()``, but faster: what the operator
learns may be some rows old, which does not matter to policies that know the truth."""


class LeftOnly:
    """Stores left rows only: the paper's experiments are about the first window."""

    __slots__ = ()

    def retain(self, arrivals: Residents) -> FloatArray:
        """Store no right row."""
        left: FloatArray = (arrivals.stream == 0).astype(np.float64)
        return left


@dataclass(frozen=True, slots=True)
class LearnedAge(LeftOnly, Age):
    """AGE with the curve that the operator learns."""


@dataclass(frozen=True, slots=True)
class LearnedProb(LeftOnly, Prob):
    """PROB with the frequencies that the operator learns."""


@dataclass(frozen=True, slots=True)
class LeftRecent(LeftOnly, Recent):
    """RECENT."""


@dataclass(frozen=True, slots=True)
class LeftUntilExpiry(LeftOnly, UntilExpiry):
    """UNTIL-EXPIRY."""


@dataclass(frozen=True, slots=True)
class TrueAge(LeftOnly, Policy):
    """AGE with the true curve; ``worth[i]`` is Priority(i), i in time units."""

    worth: tuple[float, ...]

    dynamic: ClassVar[bool] = True

    @staticmethod
    def of(curve: FloatArray) -> TrueAge:
        """Rule for a curve of results per time unit; beyond it nothing is worth."""
        return TrueAge((*priorities(curve).tolist(), -np.inf))

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: the fastest pace at which it can still yield results."""
        age: IntArray = residents.age_us // SECOND_US
        return np.array(self.worth)[np.minimum(age, len(self.worth) - 1)]


@dataclass(frozen=True, slots=True)
class TrueProb(LeftOnly, Policy):
    """PROB with the true frequencies of the right stream."""

    frequencies: tuple[float, ...]

    def score(self, residents: Residents) -> FloatArray:
        """Worth of each row: how often its value comes on the right."""
        return np.array(self.frequencies)[residents.key]


def run(
    stream: Stream,
    policy: Policy | None,
    memory: int,
    *,
    window: int = WINDOW,
    recompute: Recompute = DEFAULT,
) -> Run:
    """Join under a budget of left rows; without a policy, join exactly."""
    age = timedelta(microseconds=window * SECOND_US - 1)
    return join(
        stream.batches,
        on="key",
        within=Within(after=age),
        time=TIMES,
        budget=Budget(rows=memory, split=1.0) if policy else None,
        keep=policy,
        options=Options(recompute=recompute),
    )


def result_times(found: Run) -> FloatArray:
    """When each result came, in seconds."""
    time_us = found.results["right_time"].cast(pa.int64()).to_numpy()
    times: FloatArray = (time_us - START_US) / SECOND_US
    return times


@dataclass(frozen=True, slots=True)
class Trial:
    """A stream with the number of its exact results after it has settled."""

    stream: Stream
    exact: int

    @staticmethod
    def of(stream: Stream) -> Trial:
        """Join the stream exactly."""
        return Trial(stream, _settled(stream, run(stream, None, 0)))

    def recall(
        self, policy: Policy, memory: int, recompute: Recompute = DEFAULT
    ) -> float:
        """Part of the exact results that were found."""
        found = run(self.stream, policy, memory, recompute=recompute)
        return _settled(self.stream, found) / self.exact


def _settled(stream: Stream, found: Run) -> int:
    return int((result_times(found) >= stream.counts_from_s).sum())
