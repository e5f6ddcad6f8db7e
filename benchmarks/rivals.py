"""What Spark's own join gives in as much memory: three ways to hold fewer rows.

A way is a condition on result rows. ``short_window`` takes pairs that lie closer
together, ``key_sample`` those whose key has a low coin, ``row_sample`` those whose two
rows both have one. Coins are hashes, several of each kind; figures are their means. A
sample of keys stands or falls with the hottest ones, so it needs many.

Since an inner join commutes with filters on its inputs, sums over the exact batch join,
one for each way, are what joins of their own would give. ``streamed`` runs a way as the
streaming query that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks import engine
from benchmarks.census import (
    COINS,
    Census,
    Floats,
    Reach,
    coin,
    coins,
    columns_of,
    full_reach,
)
from benchmarks.scenes import SIDES, Scene, Score, observed

RIVALS = ("short_window", "key_sample", "row_sample")


@dataclass(frozen=True, slots=True)
class Way:
    """One way to hold fewer rows."""

    name: str
    held_rows: float
    reach_us: Reach
    coin: int = 0
    below: float = 1.0
    """Rows whose coin is at most this are taken."""

    def takes(self, scene: Scene) -> Column:
        """Whether it finds a row of the exact result, which has the rows' coins."""
        if self.name == "short_window":
            times = [F.unix_micros(F.col(name)) for name in scene.times]
            apart = times[1] - times[0]
            return (apart >= -self.reach_us[1]) & (apart <= self.reach_us[0])
        left, right = (F.col(f"{side}_coin_{self.coin}") for side in SIDES)
        return (left <= self.below) & (right <= self.below)


def ways(census: Census, scene: Scene, rows: int) -> list[Way]:
    """All the ways to hold so many rows."""
    reach = full_reach(scene)
    held = np.concatenate(census.held(scene, reach))
    place = np.searchsorted(census.keys, np.concatenate(census.key))
    held_by_key = np.bincount(place, weights=held).astype(np.float64)
    found = [_short_window(census, scene, rows)]
    for number, tossed in enumerate(census.key_coins):
        found.append(_sample("key_sample", number, tossed, held_by_key, rows, reach))
    for number in range(COINS["row_sample"]):
        tossed = np.concatenate([side[number] for side in census.row_coins])
        found.append(_sample("row_sample", number, tossed, held, rows, reach))
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


def _sample(
    name: str, number: int, tossed: Floats, held: Floats, rows: int, reach: Reach
) -> Way:
    """Take keys or rows by their coin, until about so many rows are held."""
    order = np.argsort(tossed)
    total = np.cumsum(held[order])
    last = np.argmin(np.abs(total - rows))
    return Way(name, float(total[last]), reach, number, float(tossed[order[last]]))


def scores(
    spark: SparkSession, folder: Path, scene: Scene, census: Census, found: list[Way]
) -> tuple[Score, Score, list[Score]]:
    """Scores of the exact join, of what lies within micro-batches, and of each way."""
    left, right = (
        frame.select("*", *coins("row_sample", frame.columns, f"{side}_"))
        for frame, side in zip(scene.tables(spark, folder), SIDES, strict=True)
    )
    exact = scene.native(left, right, full_reach(scene)).where(scene.measured())
    by_sum = [way for way in found if way.name != "key_sample"]
    conditions = [F.lit(True), scene.same_batch(), *(w.takes(scene) for w in by_sum)]
    truth, within, *others = _sums(exact, scene, conditions)
    found_by = dict(zip(by_sum, others, strict=True))
    found_by |= _by_key(exact, scene, census, set(found) - set(by_sum))
    return truth, within, [found_by[way] for way in found]


def _sums(exact: DataFrame, scene: Scene, conditions: list[Column]) -> list[Score]:
    """Score of the results under each condition."""
    sums: list[Column] = []
    for taken in conditions:
        sums += [F.count_if(taken), F.sum(F.when(taken, scene.worth()).otherwise(0.0))]
    named = [column.alias(f"sum_{n}") for n, column in enumerate(sums)]
    values = [float(column[0]) for column in columns_of(exact.agg(*named))]
    return [Score(*pair) for pair in zip(values[::2], values[1::2], strict=True)]


def _by_key(
    exact: DataFrame, scene: Scene, census: Census, samples: set[Way]
) -> dict[Way, Score]:
    """Score of each sample of keys, from totals by key."""
    totals = [F.count(F.lit(1)).alias("results"), F.sum(scene.worth()).alias("worth")]
    key, results, worth = columns_of(exact.groupBy(scene.key).agg(*totals))
    place = np.searchsorted(census.keys, key)
    found_by = {}
    for way in samples:
        taken = census.key_coins[way.coin][place] <= way.below
        found_by[way] = Score(float(results[taken].sum()), float(worth[taken].sum()))
    return found_by


def streamed(spark: SparkSession, folder: Path, scene: Scene, way: Way) -> Score:
    """Score of a way as a streaming query, by Spark's own stream-stream join."""
    engine.use_store(spark, "memory")
    sides = scene.streams(spark, folder)
    if way.name != "short_window":
        for side, frame in enumerate(sides):
            names = [scene.key] if way.name == "key_sample" else frame.columns
            sides[side] = frame.where(coin(way.coin, names) <= way.below)
    matches = scene.native(sides[0], sides[1], way.reach_us)
    return observed(matches, scene, f"checking {way.name}")[0]
