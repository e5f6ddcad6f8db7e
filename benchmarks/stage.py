"""A workload set up for the budget benchmark, and the rivals' cells on it."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import rivals
from benchmarks.census import Census, full_window
from benchmarks.console import note
from benchmarks.scenes import Scene, Score

CHECKED = 10
"""The memory at which rivals are also run as streams, on the first workload."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one contestant made of one workload in so much memory."""

    workload: str
    memory_percent: int
    contestant: str
    budget_rows: int
    held_rows: float
    recall: float
    importance: float


@dataclass(frozen=True, slots=True)
class Stage:
    """A workload on disk, its budgets in rows, and what the exact join finds."""

    spark: SparkSession
    folder: Path
    scene: Scene
    rows: tuple[int, int]
    budgets: dict[int, int]
    truth: Score
    without: Score
    """What a join finds that remembers nothing between micro-batches."""
    native: dict[int, list[tuple[rivals.Way, Score]]]

    @classmethod
    def set_up(
        cls, spark: SparkSession, folder: Path, scene: Scene, memories: tuple[int, ...]
    ) -> Stage:
        rows = scene.write(folder)
        census = Census.take(spark, folder, scene)
        full = full_window(census, scene)
        budgets = {memory: round(full * memory / 100) for memory in memories}
        ways = {m: rivals.ways(census, scene, rows) for m, rows in budgets.items()}
        flat = [way for found in ways.values() for way in found]
        truth, without, scores = rivals.scores(spark, folder, scene, census, flat)
        score = iter(scores)
        native = {m: [(way, next(score)) for way in ways[m]] for m in memories}
        budgets |= {100: round(full)}
        return cls(spark, folder, scene, rows, budgets, truth, without, native)

    def cell(self, memory: int, contestant: str, held: float, found: Score) -> Cell:
        return Cell(
            workload=self.scene.name,
            memory_percent=memory,
            contestant=contestant,
            budget_rows=self.budgets[memory],
            held_rows=held,
            recall=found.results / self.truth.results,
            importance=found.importance / self.truth.importance,
        )

    def sizes(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "full_window_rows": self.budgets[100],
            "micro_batches": self.scene.files,
            "results": int(self.truth.results),
            "recall_without_memory": self.without.results / self.truth.results,
            "importance": self.scene.importance,
        }


def against(stage: Stage, memory: int) -> list[Cell]:
    """The rivals' cells: means over their samples."""
    cells = []
    for name in rivals.RIVALS:
        found = [pair for pair in stage.native[memory] if pair[0].name == name]
        mean = Score(
            statistics.fmean(score.results for _, score in found),
            statistics.fmean(score.importance for _, score in found),
        )
        held = statistics.fmean(way.held_rows for way, _ in found)
        cells.append(stage.cell(memory, name, held, mean))
    return cells


def check(stage: Stage, names: tuple[str, ...]) -> list[str]:
    """Run one sample of each rival as a stream; it must agree with the batch join."""
    for way, score in stage.native[CHECKED]:
        if way.name in names and way.coin == 0:
            streamed = rivals.streamed(stage.spark, stage.folder, stage.scene, way)
            assert streamed.results == score.results, (way, streamed, score)
            assert math.isclose(streamed.importance, score.importance, rel_tol=1e-9)
            note(f"{stage.scene.name}: {way.name} as a stream agrees, {score}")
    return list(names)
