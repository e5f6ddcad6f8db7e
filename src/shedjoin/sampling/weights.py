"""Weights of the results of a sample, and a check of their intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.kernels.hashing import chain_words
from shedjoin.sampling.horvitz_thompson import TRUSTED_FROM
from shedjoin.sampling.intervals import cluster_interval
from shedjoin.spec.streams import CLUSTER_COLUMN, WEIGHT_COLUMN
from shedjoin.types import BoolArray, FloatArray, IntArray

_SHARD_SHIFT = 44
_NOT_NEGATIVE = (1 << 63) - 1


class Sampled(NamedTuple):
    """Weight and cluster of each result."""

    weight: FloatArray
    cluster: IntArray

    def those(self, rows: BoolArray) -> Sampled:
        """Select some of the results by their positions."""
        return Sampled(self.weight[rows], self.cluster[rows])

    def doubted(self, rows: BoolArray) -> Sampled:
        """Give results a negative cluster: similar results may have had no chance.

        An arrival that is further behind the clock than any before it may have lost
        partners that were shed because their time was over.
        """
        return self._replace(cluster=np.where(rows, ~self.cluster, self.cluster))

    def as_rows(self) -> pa.RecordBatch:
        """Weights and clusters as columns of the results."""
        return pa.record_batch(
            [pa.array(self.weight), pa.array(self.cluster)],
            [WEIGHT_COLUMN, CLUSTER_COLUMN],
        )


def weigh(
    shard: int,
    stayed: FloatArray,
    arrival: IntArray,
    number: IntArray,
    chance: FloatArray,
) -> Sampled:
    """Weights of matches, from the probability that residents stayed, and from coins.

    The results of one resident are a cluster. If residents were certain to stay, and
    each result won a coin of its own, then each result is a cluster.
    """
    own = (shard << _SHARD_SHIFT) | number
    alone = (chance < 1.0) & (stayed >= 1.0)
    pair = chain_words(own, arrival) & _NOT_NEGATIVE
    return Sampled(1.0 / (stayed * chance), np.where(alone, pair, own))


class SelfCheck:
    """Checks on monitored keys whether the interval of a count contains the true count.

    All matches of these keys are counted, emitted or not.
    """

    def __init__(self) -> None:
        self._parts: list[Sampled] = []

    def add(self, sampled: Sampled) -> None:
        """Add results of monitored keys."""
        self._parts.append(sampled)

    def outcome(self, truth: float) -> tuple[int, int]:
        """Number of trusted checks (0 or 1), and how many of them held (0 or 1)."""
        if not self._parts:
            return 0, 0
        weight, cluster = map(np.concatenate, zip(*self._parts, strict=True))
        found = cluster_interval(weight, cluster)
        if found.effective < TRUSTED_FROM:
            return 0, 0
        return 1, int(found.low <= truth <= found.high)
