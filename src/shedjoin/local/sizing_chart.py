"""A picture of recall against memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from shedjoin.local.sizing import Sizing

_MEGABYTE = 1e6
_COLOUR = "#1f6f8b"


def draw(sizing: Sizing, to: str | Path | Axes) -> Axes:
    """Draw what was measured, into a file or into axes."""
    figure = Figure((7, 4.2))
    axes = to if isinstance(to, Axes) else figure.subplots()
    memory = [size.memory / _MEGABYTE for size in sizing.sizes]
    recall = [size.recall for size in sizing.sizes]
    axes.plot(memory, recall, color=_COLOUR, marker="o", linewidth=2.4)
    axes.axvline(
        sizing.peak_bytes / _MEGABYTE,
        color="#7a7a7a",
        linestyle="--",
        label="state of the join without a budget, at most",
    )
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("Budget(memory=...) in MB")
    worth = "importance" if sizing.of_importance else "results"
    axes.set_ylabel(f"recall (share of the {worth})")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if not isinstance(to, Axes):
        figure.savefig(to, dpi=150, bbox_inches="tight")
    return axes
