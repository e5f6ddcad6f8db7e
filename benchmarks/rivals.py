"""What Spark's own join gives in as much memory: three ways to hold fewer rows.

A way is a condition on result rows. ``short_window`` takes pairs that lie closer
together, ``key_sample`` those whose key has a low coin, ``row_sample`` those whose two
rows both have one. Coins are hashes, several of each kind; figures are their means.

Since an inner join commutes with filters on its inputs, one exact batch join with a sum
for each way gives what a join of its own would give for each. ``streamed`` runs a way
as the streaming query that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks import engine
from benchmarks.scenes import SIDES, Scene, Score, observed
from shedjoin.types import IntArray

Floats: TypeAlias = npt.NDArray[np.float64]

RIVALS = ("short_window", "key_sample", "row_sample")
COINS = 5
"""Samples of each kind, drawn by different hashes."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to hold fewer rows."""

    name: str
    held_rows: float
    reach_us: tuple[int, int]
    coin: int = 0
    below: float = 1.0
    """Rows whose coin is at most this are taken."""

    def takes(self, scene: Scene) -> Column:
        """Whether it finds a row of the exact result."""
        if self.name == "short_window":
            times = [F.unix_micros(F.col(name)) for name in scene.times]
            apart = times[1] - times[0]
            return (apart >= -self.reach_us[1]) & (apart <= self.reach_us[0])
        if self.name == "key_sample":
            return _coin(self.coin, [scene.key]) <= self.below
        coins = [F.col(f"{side}_coin_{self.coin}") for side in SIDES]
        return (coins[0] <= self.below) & (coins[1] <= self.below)


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of both sides: event times and coins."""

    time_us: list[IntArray]
    key_coins: list[list[Floats]]
    row_coins: list[list[Floats]]

    @classmethod
    def take(cls, spark: SparkSession, folder: Path, scene: Scene) -> Census:
        census = cls([], [], [])
        for frame, time in zip(scene.tables(spark, folder), scene.times, strict=True):
            coins = [_coin(n, [scene.key]) for n in range(COINS)]
            coins += [_coin(n, frame.columns) for n in range(COINS)]
            columns = [c.alias(f"c{n}") for n, c in enumerate(coins)]
            table = frame.select(F.unix_micros(time).alias("t"), *columns).toArrow()
            values = [column.to_numpy() for column in table.columns]
            census.time_us.append(values[0])
            census.key_coins.append(values[1 : COINS + 1])
            census.row_coins.append(values[COINS + 1 :])
        return census

    def held(self, scene: Scene, reach_us: tuple[int, int]) -> list[Floats]:
        """For each row the part of the measured micro-batch ends that it is held."""
        ends = scene.ends_us
        return [
            (np.searchsorted(ends, t + reach, "right") - np.searchsorted(ends, t))
            / ends.size
            for t, reach in zip(self.time_us, reach_us, strict=True)
        ]


def full_reach(scene: Scene) -> tuple[int, int]:
    """How long the exact join holds a left and a right row."""
    return scene.reach_s[0] * 1_000_000, scene.reach_s[1] * 1_000_000


def full_window(census: Census, scene: Scene) -> float:
    """Rows that the exact join holds, both sides, on average."""
    return float(sum(held.sum() for held in census.held(scene, full_reach(scene))))


def ways(census: Census, scene: Scene, rows: int) -> list[Way]:
    """All the ways to hold so many rows."""
    reach = full_reach(scene)
    held = np.concatenate(census.held(scene, reach))
    found = [_short_window(census, scene, rows)]
    kinds = {"key_sample": census.key_coins, "row_sample": census.row_coins}
    for name, coins in kinds.items():
        for number in range(COINS):
            both = np.concatenate([coins[0][number], coins[1][number]])
            below = _threshold(both, held, rows)
            kept = float(held[both <= below].sum())
            found.append(Way(name, kept, reach, number, below))
    return found


def _short_window(census: Census, scene: Scene, rows: int) -> Way:
    """Shorten both parts of the window alike, until the rows fit."""
    low, high = 0.0, 1.0
    for _ in range(40):
        part = (low + high) / 2
        reach = (int(part * full_reach(scene)[0]), int(part * full_reach(scene)[1]))
        held_rows = sum(float(held.sum()) for held in census.held(scene, reach))
        low, high = (part, high) if held_rows <= rows else (low, part)
    return Way("short_window", held_rows, reach)


def _threshold(coins: Floats, held: Floats, rows: int) -> float:
    """The coin up to which rows must be taken to hold about so many."""
    values, place = np.unique(coins, return_inverse=True)
    total = np.cumsum(np.bincount(place, weights=held))
    return float(values[np.argmin(np.abs(total - rows))])


def _coin(number: int, columns: list[str]) -> Column:
    """A number in [0, 1) that depends on the columns alone."""
    hashed = F.xxhash64(F.lit(number), *(F.col(name) for name in columns))
    return F.shiftrightunsigned(hashed, 11) * F.lit(2.0**-53)


def _tossed(frame: DataFrame, side: str) -> DataFrame:
    coins = {f"{side}_coin_{n}": _coin(n, frame.columns) for n in range(COINS)}
    return frame.withColumns(coins)


def scores(
    spark: SparkSession, folder: Path, scene: Scene, found: list[Way]
) -> list[Score]:
    """Scores of the exact join, without memory, and of each way, by one batch join."""
    left, right = (
        _tossed(frame, side)
        for frame, side in zip(scene.tables(spark, folder), SIDES, strict=True)
    )
    exact = scene.native(left, right, full_reach(scene)).where(scene.measured())
    takes = [F.lit(True), scene.same_batch()]
    sums: list[Column] = []
    for taken in takes + [way.takes(scene) for way in found]:
        sums += [F.count_if(taken), F.sum(F.when(taken, scene.worth()))]
    row = exact.agg(*(s.alias(f"s{n}") for n, s in enumerate(sums))).first()
    assert row is not None
    values = [float(value or 0) for value in row]
    pairs = zip(values[::2], values[1::2], strict=True)
    return [Score(results, importance) for results, importance in pairs]


def streamed(spark: SparkSession, folder: Path, scene: Scene, way: Way) -> Score:
    """Score of a way as a streaming query, by Spark's own stream-stream join."""
    engine.use_store(spark, "memory")
    sides = scene.streams(spark, folder)
    if way.name != "short_window":
        columns = [[scene.key]] * 2 if way.name == "key_sample" else None
        for side, frame in enumerate(sides):
            names = columns[side] if columns else frame.columns
            sides[side] = frame.where(_coin(way.coin, names) <= way.below)
    matches = scene.native(sides[0], sides[1], way.reach_us)
    return observed(matches, scene, f"checking {way.name}")[0]
