"""Rows of a workload as the budget benchmark counts them: times, keys, coins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.scenes import Scene
from shedjoin.types import IntArray

Floats: TypeAlias = npt.NDArray[np.float64]
Reach: TypeAlias = tuple[int, int]

COINS = {"short_window": 1, "key_sample": 100, "row_sample": 5}
"""Samples of each kind, drawn by different hashes."""


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of both sides, and all keys in order with their coins."""

    time_us: list[IntArray]
    key: list[IntArray]
    row_coins: list[list[Floats]]
    keys: IntArray
    key_coins: list[Floats]

    @classmethod
    def take(cls, spark: SparkSession, folder: Path, scene: Scene) -> Census:
        frames = scene.tables(spark, folder)
        rows = [
            columns_of(
                frame.select(
                    F.unix_micros(time), scene.key, *coins("row_sample", frame.columns)
                )
            )
            for frame, time in zip(frames, scene.times, strict=True)
        ]
        keys = frames[0].select(scene.key).union(frames[1].select(scene.key)).distinct()
        tossed = keys.select(scene.key, *coins("key_sample", [scene.key]))
        known = columns_of(tossed.orderBy(scene.key))
        return cls(
            time_us=[side[0] for side in rows],
            key=[side[1] for side in rows],
            row_coins=[side[2:] for side in rows],
            keys=known[0],
            key_coins=known[1:],
        )

    def held(self, scene: Scene, reach_us: Reach) -> list[Floats]:
        """For each row the part of the measured micro-batch ends that it is held."""
        ends = scene.ends_us
        return [
            (np.searchsorted(ends, t + reach, "right") - np.searchsorted(ends, t))
            / ends.size
            for t, reach in zip(self.time_us, reach_us, strict=True)
        ]


def full_reach(scene: Scene) -> Reach:
    """How long the exact join holds a left and a right row."""
    return scene.reach_s[0] * 1_000_000, scene.reach_s[1] * 1_000_000


def full_window(census: Census, scene: Scene) -> float:
    """Rows that the exact join holds, both sides, on average."""
    return float(sum(held.sum() for held in census.held(scene, full_reach(scene))))


def coin(number: int, columns: list[str]) -> Column:
    """A number in [0, 1) that depends on the columns alone."""
    hashed = F.xxhash64(F.lit(number), *(F.col(name) for name in columns))
    return F.shiftrightunsigned(hashed, 11) * F.lit(2.0**-53)


def coins(name: str, columns: list[str], prefix: str = "") -> list[Column]:
    """All coins of a kind."""
    return [coin(n, columns).alias(f"{prefix}coin_{n}") for n in range(COINS[name])]


def columns_of(frame: DataFrame) -> list[Any]:
    """A DataFrame as arrays."""
    return [column.to_numpy() for column in frame.toArrow().columns]
