"""One run of the truth benchmark: a join under a budget held against the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.worlds import Truth, World, world_at
from shedjoin import Budget, MostImportant, MostResults, Options, Within, local
from shedjoin.lab.workloads.rows import Batches
from shedjoin.local.run import Run
from shedjoin.policies import Age, Fifo, Greedy, Policy, Prob, Rand, Residents
from shedjoin.spec.report import Report
from shedjoin.types import FloatArray

FIXED: dict[str, dict[str, Policy]] = {
    "results": {"Prob": Prob(), "Age": Age(), "Fifo": Fifo(), "Rand": Rand()},
    "importance": {
        "Prob": Prob(),
        "Age": Age(),
        "Fifo": Fifo(),
        "Greedy": Greedy(),
        "Rand": Rand(),
    },
}
DEFAULT, INFORMED, UNSIZED = "default", "informed", "unsized"


@dataclass(frozen=True, slots=True)
class Unsized(Policy):
    """What the default would do if all rows were of one size."""

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        return residents.priority()


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is run: a workload, a goal, a policy, and how much it is given."""

    world: str
    goal: str
    memory: int
    """Percent of what the window holds."""
    shards: int
    batches: int
    seed: int
    policy: str = DEFAULT
    rows: int = 40_000
    """Rows of a stream in a window, about."""

    def measure(self) -> dict[str, Any]:
        """Run it; give what was kept and what was reported."""
        world, streams, informed, truth = world_at(
            self.world, self.rows, self.batches, self.seed
        )
        started = time.perf_counter()
        keep, size = self._keep(world, informed), self.budget_size(world, truth)
        run = self.run(world, streams, size, keep)
        seconds = time.perf_counter() - started
        kept = np.array([batch.report.matched for batch in run.batches])
        worth = np.array([batch.report.importance for batch in run.batches])
        steady = slice(truth.warm, None)
        return {
            "kept": part(kept[steady].sum(), truth.results[steady].sum()),
            "kept_importance": part(worth[steady].sum(), truth.importance[steady].sum())
            if self.goal == "importance"
            else None,
            "true": part(kept.sum(), truth.results.sum()),
            "true_importance": part(worth.sum(), truth.importance.sum())
            if self.goal == "importance"
            else None,
            "budget": size,
            "seconds": seconds,
            **reported(run, truth),
            **foreseen(run, truth),
        }

    def run(
        self,
        world: World,
        streams: Batches,
        size: int,
        keep: Policy | MostResults | MostImportant | None = None,
        recall: float | None = None,
    ) -> Run:
        """Join the streams under a budget of so many rows or bytes."""
        after, before = (f"{seconds} seconds" for seconds in world.reach_s)
        limit: dict[str, Any] = {"memory" if world.in_bytes else "rows": size}
        return local.join(
            streams,
            on=world.key,
            within=Within(before=before, after=after),
            time=world.times,
            options=Options(shards=self.shards),
            budget=Budget(**limit, recall=recall),
            keep=keep,
            collect=False,
        )

    def budget_size(self, world: World, truth: Truth) -> int:
        return int(self.memory / 100 * (truth.bytes if world.in_bytes else truth.rows))

    def _keep(self, world: World, informed: Policy) -> Any:  # noqa: ANN401  (goals and policies)
        named = {DEFAULT: None, INFORMED: informed, UNSIZED: Unsized()}
        policy = {**named, **FIXED[self.goal]}[self.policy]
        if self.goal == "importance":
            return MostImportant((world.importance, None), by=policy)
        return policy or MostResults()


def reported(run: Run, truth: Truth) -> dict[str, Any]:
    """What the join says of its own recall, and how far off each micro-batch was."""
    told, exact = [batch.report for batch in run.batches], truth.results.tolist()
    off = [
        abs(each.recall - part(each.matched, whole))
        for each, whole in zip(told, exact, strict=True)
        if whole and each.recall is not None
    ]
    unknown = [
        each.recall is None for each, whole in zip(told, exact, strict=True) if whole
    ]
    value, low, high = told[-1].recall_so_far
    return {
        "reported": value,
        "low": low,
        "high": high,
        "importance": list(told[-1].importance_recall_so_far),
        "off_by_batch": float(np.mean(off)) if off else None,
        "unknown": float(np.mean(unknown)),
    }


def foreseen(run: Run, truth: Truth) -> dict[str, Any]:
    """What is expected with other budgets."""
    steady = sum((batch.report for batch in run.batches[truth.warm :]), Report())
    at = steady.recall_at or {}
    return {"recall_at": {str(factor): recall for factor, recall in at.items()}}


def part(found: float, whole: float) -> float:
    return float(found / whole) if whole else 1.0
