"""Figures of the truth benchmark on sizing: other budgets, and budgets by recall."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.truth_cells import BY_RECALL, DEFAULT

Found = dict[str, Any]
_NAMES = "world", "goal", "shards", "batches", "seed"


def others_off(cells: Sequence[Found]) -> list[float]:
    """How far what is expected is off, where a run has that budget."""
    own = [c for c in cells if c["policy"] == DEFAULT and c["goal"] == "results"]
    kept = {(*_place(c), c["memory"]): c["kept"] for c in own}
    return [
        recall - kept[*_place(c), memory]
        for c in own
        for factor, recall in c["recall_at"].items()
        for memory in (float(factor) * c["memory"],)
        if float(factor) != 1.0 and (*_place(c), memory) in kept
    ]


def by_recall(cells: Sequence[Found]) -> list[Found]:
    """Budgets by recall: what they kept and held, and the least that keeps as much."""
    rows = []
    for cell in (c for c in cells if c["policy"] == BY_RECALL):
        same = [
            c
            for c in cells
            if c["policy"] == DEFAULT
            and c["goal"] == "results"
            and all(c[n] == cell[n] for n in ("world", "shards", "seed"))
            and c["batches"] == 12
        ]
        curve = sorted((c["kept_last"], c["budget"]) for c in same)
        curve.append((1.0, cell["budget"] / 1.2))
        kept, held = np.array(curve).T
        least = float(np.interp(cell["kept_last"], kept, held))
        rows.append(
            {
                **{name: cell[name] for name in ("world", "shards", "seed")},
                "kept": cell["kept_last"],
                "times_least": cell["held"] / least,
            }
        )
    return rows


def sizing_figures(cells: Sequence[Found]) -> Found:
    """The figures that are promised."""
    off, rows = [abs(each) for each in others_off(cells)], by_recall(cells)
    found: Found = {}
    if off:
        found |= {
            "other_budgets_off_mean": fmean(off),
            "other_budgets_off_worst": max(off),
        }
    if rows:
        found |= {
            "by_recall_kept_least": min(row["kept"] for row in rows),
            "by_recall_kept_most": max(row["kept"] for row in rows),
            "by_recall_times_least": max(row["times_least"] for row in rows),
        }
    return found


def _place(cell: Found) -> tuple[Any, ...]:
    return tuple(cell[name] for name in _NAMES)
