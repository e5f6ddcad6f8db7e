"""One run of the truth benchmark with a budget that names a recall."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.truth_cells import Cell, part
from benchmarks.worlds import truth_of, world_at

BY_RECALL, RECALL = "by recall", 0.9
OF_HELD = (1 / 2, 1 / 1.5, 1 / 1.2, 1.0)
"""Fixed budgets, as parts of the memory that the budget by recall held."""


@dataclass(frozen=True, slots=True, order=True)
class ByRecall(Cell):
    """A budget that names a recall, and fixed budgets that keep about as much.

    The window is half as long as in other runs, so there are six: for the first two, a
    budget by recall may use all that it is given. The last two are measured.
    """

    policy: str = BY_RECALL

    def measure(self) -> dict[str, Any]:
        """Return what was kept and held, and held against the least that keeps it."""
        full, streams, _, _ = world_at(self.world, self.rows, self.batches, self.seed)
        world = full.halved()
        truth = truth_of(world, streams)
        last = slice(-len(streams) // 3, None)

        def kept_and_held(size: int, recall: float | None) -> tuple[float, float]:
            run = self.run(world, streams, size, recall=recall)
            told = [batch.report for batch in run.batches[last]]
            kept = sum(report.matched for report in told)
            held = fmean(report.budget for report in told)
            return part(kept, truth.results[last].sum()), held

        kept, held = kept_and_held(self.budget_size(world, truth), RECALL)
        fixed = [kept_and_held(int(held * each), None) for each in OF_HELD]
        least = float(np.interp(kept, *np.array(sorted(fixed)).T))
        return {"kept": kept, "held": held, "times_least": held / least}
