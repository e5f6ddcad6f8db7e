"""Samples whose sizes and coins are fixed, and one that lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from shedjoin.policies import Residents
from shedjoin.policies.samples import ByLot, EqCluster, by_lot
from shedjoin.types import FloatArray, IntArray

Scheme: TypeAlias = Callable[..., ByLot]
"""A class of samples; takes a seed."""


def size_of(key: int) -> float:
    """Size of the rows of a key: from 0.3 to 3.1."""
    return 0.3 + 0.7 * (key % 5)


@dataclass(frozen=True, slots=True)
class FixedSizes(ByLot):
    """Rows are kept in proportion to a size that goes by the key."""

    seed: int = 0

    def score(self, residents: Residents) -> FloatArray:
        size = np.array([size_of(key) for key in residents.key.tolist()])
        return by_lot(self.seed, size, residents)


@dataclass(frozen=True, slots=True)
class OneByOne(FixedSizes):
    """The same sample; but matches are counted, so arrivals go one after the other."""

    reads: ClassVar[tuple[str, ...]] = ("matches",)


@dataclass(frozen=True, slots=True)
class FixedCoins(ByLot):
    """Every row has so many coins."""

    thins: ClassVar[bool] = True
    tosses: ClassVar[bool] = True

    count: int = 5
    chance: float = 0.3
    seed: int = 0

    def thin(self, arrivals: Residents) -> FloatArray:
        return np.full(arrivals.key.size, self.chance)

    def coins(self, arrivals: Residents) -> IntArray:
        return np.full(arrivals.key.size, self.count)

    def score(self, residents: Residents) -> FloatArray:
        return by_lot(self.seed, np.ones(residents.key.size), residents)


@dataclass(frozen=True, slots=True)
class Liar(EqCluster):
    """Says that rows were likelier to stay than they were."""

    def inclusion(
        self, score: FloatArray, bar: FloatArray, key: IntArray, number: IntArray
    ) -> FloatArray:
        honest = EqCluster(self.seed).inclusion(score, bar, key, number)
        return np.minimum(1.0, 1.6 * honest)
