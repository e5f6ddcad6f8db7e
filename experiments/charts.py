"""Pictures: a grid of panels, one row per measure, one column per stream."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.part import Point, find

EXACT = "EXACT"
Styles = Mapping[str, Mapping[str, Any]]
FONT: dict[Any, Any] = {"font.size": 18, "lines.linewidth": 2.6, "lines.markersize": 9}


def grid(
    points: Sequence[Point],
    *,
    styles: Styles,
    x: str,
    labels: Mapping[str, str],
    published: Mapping[str, str] | None = None,
    log: Collection[str] = (),
    bottom: Mapping[str, float] | None = None,
) -> Figure:
    """Draw measures (``labels``: axis texts) against x; crosses are published.

    Series without a style are left out; of EXACT, which would dwarf the others, only
    the range is written. Measures in ``log`` have a logarithmic axis, those in
    ``bottom`` one that begins elsewhere than at 0.
    """
    panels = list(dict.fromkeys(point.panel for point in points))
    size = (6.4 * max(2, len(panels)), 3.7 * len(labels) + 2.4)
    with plt.rc_context(FONT):
        figure, places = plt.subplots(
            len(labels), len(panels), figsize=size, squeeze=False, sharex="col"
        )
        for row, (measure, label) in zip(places, labels.items(), strict=True):
            for axes, panel in zip(row, panels, strict=True):
                some = find(points, panel=panel, measure=measure)
                _panel(axes, some, styles, published or {})
                if measure in log:
                    axes.set_ylim(auto=True)
                    axes.set_yscale("log")
                if bottom and measure in bottom:
                    axes.set_ylim(bottom=bottom[measure])
            row[0].set_ylabel(label)
        for axes, panel in zip(places[0], panels, strict=True):
            axes.set_title(panel, fontsize=18)
        for axes in places[-1]:
            axes.set_xlabel(x)
        _legend(figure, wide=len(panels) > 2)
    return figure


def _panel(
    axes: Axes, points: list[Point], styles: Styles, published: Mapping[str, str]
) -> None:
    for series, style in styles.items():
        mine = find(points, series=series)
        if mine:
            places = [point.x for point in mine]
            axes.plot(places, [p.measured for p in mine], label=series, **style)
        stated = [point for point in mine if point.published != ""]
        if stated and series in published:
            axes.plot(
                [point.x for point in stated],
                [point.published for point in stated],
                linestyle="none",
                marker="x",
                markersize=15,
                markeredgewidth=3,
                color=style["color"],
                label=published[series],
            )
    places = list(dict.fromkeys(float(point.x) for point in points))
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
    exact = [float(point.measured) for point in find(points, series=EXACT)]
    if exact:
        shown = f"{min(exact):,.0f} to {max(exact):,.0f}"
        if max(exact) - min(exact) < 0.5:
            shown = f"{max(exact):,.0f}"
        axes.text(0.03, 0.88, f"EXACT: {shown}", transform=axes.transAxes, fontsize=16)
    if all(0 <= float(point.measured) <= 1 for point in points):
        axes.set_ylim(0, 1.04)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, *, wide: bool) -> None:
    handles: list[Any] = []
    labels: list[str] = []
    for one in figure.axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    columns = min(len(labels), 4 if wide else 3)
    rows = -(-len(labels) // columns)
    height = figure.get_size_inches()[1]
    figure.legend(handles, labels, loc="upper center", ncols=columns, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.38 * rows + 0.1) / height))
