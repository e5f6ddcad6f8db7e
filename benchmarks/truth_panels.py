"""Picture of the truth benchmark: what many shards keep, and what is reported."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.record import Record
from benchmarks.truth_cells import DEFAULT
from benchmarks.truth_tables import Found, kept_part, parted

CUT = 12
"""Micro-batches of the runs whose shards are compared."""
COLOURS = ("#1f6f8b", "#c8553d", "#b99a3e", "#5b8c5a", "#7a7a7a")


def truth_panels(record: Record) -> Figure:
    """Draw recall by shards for each memory, and reported recall by the true one."""
    cells, _ = parted(record.details["cells"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    _by_shards(left, cells)
    _against_truth(right, cells)
    for axes in (left, right):
        axes.set_ylim(0, 1.02)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _by_shards(axes: Axes, cells: list[Found]) -> None:
    kept: dict[tuple[int, int], list[float]] = defaultdict(list)
    for cell in cells:
        if cell["policy"] == DEFAULT and cell["batches"] == CUT:
            kept[cell["memory"], cell["shards"]].append(kept_part(cell))
    shards = sorted({count for _, count in kept})
    places = {count: place for place, count in enumerate(shards)}
    for memory, colour in zip(sorted({m for m, _ in kept}), COLOURS, strict=False):
        own = [count for count in shards if (memory, count) in kept]
        axes.plot(
            [places[count] for count in own],
            [fmean(kept[memory, count]) for count in own],
            color=colour,
            marker="o",
            label=f"{memory} % of the memory",
        )
    axes.set_xticks(list(places.values()), [str(count) for count in shards])
    axes.set_xlabel("shards")
    axes.set_ylabel("kept, mean over workloads and seeds")
    axes.legend(frameon=False)


def _against_truth(axes: Axes, cells: list[Found]) -> None:
    told = [c for c in cells if c["reported"] is not None]
    worlds = sorted({cell["world"].split()[0] for cell in told})
    for world, colour in zip(worlds, COLOURS, strict=False):
        own = [cell for cell in told if cell["world"].split()[0] == world]
        axes.scatter(
            [cell["true"] for cell in own],
            [cell["reported"] for cell in own],
            color=colour,
            s=9,
            alpha=0.6,
            linewidths=0,
            label=world,
        )
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, zorder=0)
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("true recall of a run")
    axes.set_ylabel("reported recall")
    axes.legend(frameon=False, markerscale=2)
