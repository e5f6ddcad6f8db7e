"""Figures and tables of the truth benchmark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from rich.box import MINIMAL
from rich.console import Console
from rich.table import Table

from benchmarks.record import Record
from benchmarks.truth_cells import DEFAULT, FIXED, INFORMED, UNSIZED
from benchmarks.truth_recall import BY_RECALL
from benchmarks.truth_sizing import sizing_figures

Found = dict[str, Any]
_LEAST_ROWS = 100
"""Rows of budget per shard from which on sharing is judged."""


def figures(cells: Sequence[Found]) -> dict[str, Any]:
    """The figures that are promised, over all cells."""
    cells, by_recall = parted(cells)
    kept = _against_policies(cells) | _over_shards(cells)
    return kept | _reported(cells) | sizing_figures(cells, by_recall)


def parted(cells: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """Part runs with fixed budgets from those whose budget names a recall."""
    fixed = [cell for cell in cells if cell["policy"] != BY_RECALL]
    return fixed, [cell for cell in cells if cell["policy"] == BY_RECALL]


def kept_part(cell: Found) -> float:
    kept = cell["kept_importance" if cell["goal"] == "importance" else "kept"]
    return float(kept)


def _means(
    cells: Sequence[Found], names: Sequence[str], value: Callable[[Found], float]
) -> dict[tuple[Any, ...], float]:
    """Means over seeds, by the named fields."""
    groups: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for cell in cells:
        groups[tuple(cell[name] for name in names)].append(value(cell))
    return {group: fmean(values) for group, values in groups.items()}


def policy_rows(cells: Sequence[Found]) -> list[Found]:
    """Workload by workload: the default, the best fixed policy and the informed one."""
    one = [c for c in cells if c["shards"] == 1 and c["batches"] == 12]
    means = _means(one, ("world", "goal", "memory", "policy"), kept_part)
    rows = []
    for world, goal, memory in sorted({key[:3] for key in means}):
        own = {name: means.get((world, goal, memory, name)) for name in FIXED[goal]}
        fixed = {name: value for name, value in own.items() if value is not None}
        if not fixed:
            continue
        best = max(fixed, key=lambda name: fixed[name])
        rows.append(
            {
                "world": world,
                "goal": goal,
                "memory": memory,
                "default": means[world, goal, memory, DEFAULT],
                "best": best,
                "best_kept": fixed[best],
                "informed": means.get((world, goal, memory, INFORMED)),
                "unsized": means.get((world, goal, memory, UNSIZED)),
            }
        )
    return rows


def _against_policies(cells: Sequence[Found]) -> dict[str, Any]:
    rows = policy_rows(cells)
    if not rows:
        return {}
    loss = [max(0.0, row["best_kept"] - row["default"]) for row in rows]
    informed = [
        row["default"] / row["informed"]
        for row in rows
        if row["informed"] and row["memory"] >= 10
    ]
    return {
        "loss_worst": max(loss),
        "loss_within_0.01": sum(each <= 0.01 for each in loss) / len(loss),
        "of_informed_worst": min(informed, default=1.0),
    }


def shard_rows(cells: Sequence[Found]) -> list[Found]:
    """What is kept on many shards as part of what one shard keeps."""
    own = [c for c in cells if c["policy"] == DEFAULT]
    names = ("world", "goal", "memory", "shards", "batches")
    kept, budgets = _means(own, names, kept_part), _means(own, names, _budget)
    rows = []
    for world, goal, memory, shards, batches in sorted(kept):
        alone = kept.get((world, goal, memory, 1, batches))
        if shards == 1 or alone is None:
            continue
        key = world, goal, memory, shards, batches
        row = dict(zip(names, key, strict=True))
        row |= {"kept": kept[key], "alone": alone, "ratio": kept[key] / alone}
        row["judged"] = budgets[key] / shards >= _LEAST_ROWS
        rows.append(row)
    return rows


def _budget(cell: Found) -> float:
    size = cell["budget"]
    return float(size / 256 if cell["world"].endswith("sized") else size)


def _over_shards(cells: Sequence[Found]) -> dict[str, Any]:
    judged = [row for row in shard_rows(cells) if row["judged"]]
    drifting = [r["ratio"] for r in judged if r["world"].endswith("drifting")]
    steady = [r["ratio"] for r in judged if not r["world"].endswith("drifting")]
    return {
        "shards_steady_worst": min(steady, default=1.0),
        "shards_drifting_worst": min(drifting, default=1.0),
    }


def _told(cells: Sequence[Found]) -> list[tuple[float, ...]]:
    """Of every run: truth, what was reported, and the interval; importance as well."""
    told = [(c["true"], c["reported"], c["low"], c["high"]) for c in cells]
    told += [
        (c["true_importance"], *c["importance"])
        for c in cells
        if c["true_importance"] is not None
    ]
    return [each for each in told if each[1] is not None]


def _covered(told: Sequence[tuple[float, ...]]) -> float:
    """Part of the runs whose interval contains the truth, to three digits."""
    slack = 5e-4
    return fmean(low - slack <= true <= high + slack for true, _, low, high in told)


def _reported(cells: Sequence[Found]) -> dict[str, Any]:
    told = _told(cells)
    off = [abs(each[1] - each[0]) for each in told]
    tenth = _told([c for c in cells if c["memory"] == 10])
    worlds = sorted({c["world"] for c in cells})
    return {
        "reported_off_mean": fmean(off),
        "reported_off_worst": max(off),
        "covered_worst": min(
            _covered(_told([c for c in cells if c["world"] == world]))
            for world in worlds
        ),
        "half_width_worst": max((e[3] - e[2]) / 2 for e in tenth or told),
        "unknown": fmean(c["unknown"] for c in cells),
    }


def show(record: Record) -> None:
    """Print tables: policies, shards, the reported recall, and budgets by recall."""
    console = Console()
    cells, by_recall = parted(record.details["cells"])
    columns = "default best loss informed part unsized"
    table = _table("default against fixed policies", columns)
    for row in policy_rows(cells):
        informed, unsized = row["informed"], row["unsized"]
        table.add_row(
            f"{row['world']}, {row['goal']}, {row['memory']} %",
            f"{row['default']:.3f}",
            f"{row['best_kept']:.3f} {row['best']}",
            f"{row['best_kept'] - row['default']:.3f}",
            "" if informed is None else f"{informed:.3f}",
            "" if informed is None else f"{row['default'] / informed:.3f}",
            "" if unsized is None else f"{unsized:.3f}",
        )
    console.print(table)
    table = _table("many shards against one", "kept one ratio judged")
    for row in shard_rows(cells):
        table.add_row(
            f"{row['world']}, {row['goal']}, {row['memory']} %, "
            f"{row['shards']} shards, {row['batches']} micro-batches",
            *(f"{row[name]:.3f}" for name in ("kept", "alone", "ratio")),
            "yes" if row["judged"] else "",
        )
    console.print(table)
    table = _table("reported recall", "runs mean worst covered unknown")
    for world in sorted({c["world"] for c in cells}):
        own = [c for c in cells if c["world"] == world]
        told = _told(own)
        off = [abs(each[1] - each[0]) for each in told]
        shown = (
            *(fmean(off), max(off), _covered(told)),
            fmean(c["unknown"] for c in own),
        )
        table.add_row(world, str(len(told)), *(f"{value:.3f}" for value in shown))
    console.print(table)
    table = _table("budgets that name a recall of 0.9", "kept held least")
    for cell in by_recall:
        table.add_row(
            f"{cell['world']}, {cell['shards']} shards, seed {cell['seed']}",
            *(f"{cell['kept']:.3f}", f"{cell['held']:.0f}"),
            f"{cell['times_least']:.2f} times",
        )
    console.print(table)
    for name, value in record.figures.items():
        console.print(f"{name}: {value:.3f}" if isinstance(value, float) else name)


def _table(title: str, columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=MINIMAL, pad_edge=False)
    table.add_column("")
    for name in columns.split():
        table.add_column(name, justify="right")
    return table
