"""Picture of the budget benchmark: share against memory, a panel per workload."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.record import Record

LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "ours": ("shedjoin", {"color": "#1f6f8b", "marker": "o", "linewidth": 3.2}),
    "short_window": (
        "shorter window",
        {"color": "#c8553d", "marker": "s", "linestyle": "--"},
    ),
    "key_sample": (
        "sample of keys",
        {"color": "#7a7a7a", "marker": "^", "linestyle": "-."},
    ),
    "row_sample": (
        "sample of rows",
        {"color": "#b99a3e", "marker": "D", "linestyle": ":"},
    ),
}


def panels(record: Record) -> Figure:
    """Draw the shares; text stays readable at half the size."""
    cells: list[dict[str, Any]] = record.figures["cells"]
    workloads = list(dict.fromkeys(cell["workload"] for cell in cells))
    with plt.rc_context({"font.size": 17, "lines.linewidth": 2.4}):
        figure, places = plt.subplots(
            1, len(workloads), figsize=(15, 5.6), sharey=True, squeeze=False
        )
        for axes, workload in zip(places[0], workloads, strict=True):
            _panel(axes, [cell for cell in cells if cell["workload"] == workload])
            importance = record.sizes[workload]["importance"] or "result rows"
            axes.set_title(f"{workload}: {importance}", fontsize=17)
        places[0][0].set_ylabel("share of the exact\nresult kept (%)")
        figure.supxlabel("memory (% of the rows in the full window)", fontsize=17)
        handles, labels = places[0][0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="upper center",
            ncols=len(labels),
            frameon=False,
            columnspacing=1.6,
        )
        figure.tight_layout(rect=(0, 0, 1, 0.92))
    return figure


def _panel(axes: Axes, cells: list[dict[str, Any]]) -> None:
    for name, (label, style) in LINES.items():
        points = [cell for cell in cells if cell["contestant"] == name]
        axes.plot(
            [cell["memory_percent"] for cell in points],
            [100 * cell["importance"] for cell in points],
            label=label,
            markersize=9,
            **style,
        )
    axes.set_xscale("log")
    axes.minorticks_off()
    memories = sorted({cell["memory_percent"] for cell in cells})
    axes.set_xticks(memories, [str(memory) for memory in memories])
    axes.set_ylim(0, 102)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def burst_panels(record: Record) -> Figure:
    """Offered rows, time of micro-batches, throttle and recall, one above the other."""
    names = {
        "rows": "rows of a micro-batch",
        "seconds": "seconds of a micro-batch",
        "share": "share of the work",
        "recall": "recall, as reported",
    }
    figure, rows = plt.subplots(len(names), sharex=True, figsize=(8, 9))
    for axes, (name, label) in zip(rows, names.items(), strict=True):
        for run, colour in (("without", "#b8c4c9"), ("with", "#1f6f8b")):
            steps = record.details[run]
            at = [step["start"] for step in steps]
            axes.plot(
                at, [step[name] for step in steps], colour, label=f"{run} a CPU budget"
            )
        axes.set_ylabel(label)
        axes.spines[["top", "right"]].set_visible(False)
    rows[1].axhline(record.figures["target_s"], color="#c0392b", linestyle=":")
    rows[1].set_yscale("log")
    rows[0].legend(frameon=False)
    rows[-1].set_xlabel("seconds since the start")
    figure.tight_layout()
    return figure
