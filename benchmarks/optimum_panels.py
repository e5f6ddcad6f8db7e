"""Picture of the optimum benchmark: how near policies come, a panel per aim."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from benchmarks.record import Record

SHADES = {"shed_then_probe": "#1f6f8b", "shed_then_join": "#b8c4c9"}
"""A colour for each discipline."""
HEIGHT = 0.4
"""Of a bar; policies are one apart."""


def optimum_panels(record: Record) -> Figure:
    """Draw two bars for each policy, one for each discipline."""
    cells = record.details["cells"]
    kinds = list(dict.fromkeys((cell["workload"], cell["aim"]) for cell in cells))
    figure, places = plt.subplots(
        1,
        len(kinds),
        figsize=(3.7 * len(kinds), 4.2),
        squeeze=False,
        layout="constrained",
    )
    for axes, kind in zip(places[0], kinds, strict=True):
        own = [cell for cell in cells if (cell["workload"], cell["aim"]) == kind]
        names = list(dict.fromkeys(cell["policy"] for cell in own))
        for number, (discipline, colour) in enumerate(SHADES.items()):
            some = [cell for cell in own if cell["discipline"] == discipline]
            at = [names.index(cell["policy"]) + HEIGHT * number for cell in some]
            parts = [100 * cell["part"] for cell in some]
            bars = axes.barh(at, parts, HEIGHT, color=colour, label=discipline)
            axes.bar_label(bars, fmt="{:.0f}", padding=3, fontsize=9)
        middle = [place + HEIGHT / 2 for place in range(len(names))]
        axes.set_yticks(middle, [name.replace("_", " ") for name in names])
        axes.invert_yaxis()
        axes.set_xlim(0, 112)
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.axvline(100, color="#c8553d", linestyle=":", zorder=0)
        axes.set_title(f"{kind[0]}: {kind[1]}", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = places[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(labels), frameon=False
    )
    figure.supxlabel("% of the optimum", fontsize=11)
    return figure
