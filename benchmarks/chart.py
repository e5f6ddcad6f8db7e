"""Pictures of records."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from benchmarks.harvest_panels import harvest_panels
from benchmarks.optimum_panels import optimum_panels
from benchmarks.panels import burst_panels, panels
from benchmarks.record import Record
from benchmarks.truth_panels import truth_panels

BARS = {
    "passthrough_rows_per_s": "bare engine (no join)",
    "rows_per_s": "shedjoin, RocksDB",
    "native_memory_rows_per_s": "Spark's join, in memory",
    "native_rocksdb_rows_per_s": "Spark's join, RocksDB",
}


def draw(record: Record, path: Path) -> None:
    """Draw a record: panels for the benchmarks named below, bars for all others."""
    drawn = {
        "budget": panels,
        "burst": burst_panels,
        "harvest": harvest_panels,
        "optimum": optimum_panels,
        "truth": truth_panels,
    }
    figure = drawn.get(record.name, _bars)(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _bars(record: Record) -> Figure:
    if record.name == "exact":
        names = [label for key, label in BARS.items() if key in record.figures]
        values = [record.figures[key] / 1000 for key in BARS if key in record.figures]
        label = "thousand rows per second (two cores)"
    else:
        figures = {k: v for k, v in record.figures.items() if not isinstance(v, str)}
        names, values = list(figures), [float(v) for v in figures.values()]
        label = record.name
    figure, axes = plt.subplots(figsize=(8, 0.6 * len(names) + 1.2))
    colours = ["#1f6f8b" if "shedjoin" in name else "#b8c4c9" for name in names]
    bars = axes.barh(names, values, color=colours)
    axes.bar_label(bars, fmt="{:,.0f}", padding=4)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return figure
