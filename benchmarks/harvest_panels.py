"""A picture of a harvest: at which lags arrivals find matches, and where they look."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from benchmarks.record import Record


def harvest_panels(record: Record) -> Figure:
    """Draw a row for each direction, a panel for each hop in the order it is met."""
    directions = record.details["configuration"]
    hops = len(directions[0]["hops"])
    figure, grid = plt.subplots(
        len(directions),
        hops,
        figsize=(4.4 * hops, 2.0 * len(directions) + 0.8),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for row, direction in zip(grid, directions, strict=True):
        for number, (axes, hop) in enumerate(zip(row, direction["hops"], strict=True)):
            edges, matches = np.array(hop["edges"]), np.array(hop["matches"])
            width = np.diff(edges)
            axes.bar(
                edges[:-1],
                100 * matches / max(matches.sum(), 1e-9),
                width,
                align="edge",
                color="#b8c4c9",
            )
            axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
            for first, last in hop["looked"]:
                axes.axvspan(first, last, color="#1f6f8b", alpha=0.35, lw=0)
            if not hop["looked"]:
                axes.text(0.5, 0.5, "not joined", transform=axes.transAxes, ha="center")
            title = (
                f"arrivals of {direction['arrivals']}: hop {number + 1}, {hop['met']}"
            )
            axes.set_title(title, fontsize=10, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("% of matches")
    for axes in grid[-1]:
        axes.set_xlabel("lag: arrival later than resident by, s")
    figure.suptitle("matches (grey), and what arrivals are compared with (blue)")
    return figure
