"""Figures of the truth benchmark on sizing: other budgets, and budgets by recall."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from benchmarks.truth_cells import DEFAULT

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


def sizing_figures(cells: Sequence[Found], by_recall: Sequence[Found]) -> Found:
    """The figures that are promised."""
    off = [abs(each) for each in others_off(cells)]
    found: Found = {}
    if off:
        found |= {
            "other_budgets_off_mean": fmean(off),
            "other_budgets_off_worst": max(off),
        }
    if by_recall:
        kept = [each["kept"] for each in by_recall]
        found |= {
            "by_recall_kept_least": min(kept),
            "by_recall_kept_most": max(kept),
            "by_recall_times_least": max(each["times_least"] for each in by_recall),
        }
    return found


def _place(cell: Found) -> tuple[Any, ...]:
    return tuple(cell[name] for name in _NAMES)
