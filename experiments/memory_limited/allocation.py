"""Figures 10 and 11: memory for two joins, by ALLOC and in proportion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from experiments.charts import grid
from experiments.memory_limited.streams import WINDOW
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.lab.plan import Allocation, Model, allocate, proportional

ALLOC, PROP = "ALLOC, measured", "PROP, measured"
PLANNED = {"ALLOC": "ALLOC, planned", "PROP": "PROP, planned"}
RECALL, SHARE = "minimum recall", "memory by ALLOC (%)"
STYLES: dict[str, dict[str, Any]] = {
    PLANNED["ALLOC"]: {"color": "#1f6f8b", "linestyle": ":", "marker": ""},
    ALLOC: {"color": "#1f6f8b", "linestyle": "-", "marker": "o"},
    PLANNED["PROP"]: {"color": "#c8553d", "linestyle": ":", "marker": ""},
    PROP: {"color": "#c8553d", "linestyle": "--", "marker": "s"},
}
SHARES = ({"color": "#4c9a6a", "marker": "^"}, {"color": "#b99a3e", "marker": "v"})

Runner = Callable[[int, float, int], float]
"""(which join, parameter, rows) to the recall that the operator reaches."""


class Duel(NamedTuple):
    """Two joins that compete for memory while a parameter changes.

    ``known`` are ALLOC and PROP (minimum recall) and the first join's memory.
    """

    name: str
    title: str
    x: str
    joins: tuple[str, str]
    models: Callable[[float], Sequence[Model]]
    percent: int
    known: dict[float, tuple[float, float, float]]


def hold(session: Session, duel: Duel, places: Sequence[float], run: Runner) -> Part:
    """Divide the memory at each place, and run both joins with what they got."""
    total = duel.percent * 2 * WINDOW // 100
    points: list[Point] = []
    for x in session.each(places, duel.name):
        models = duel.models(x)
        plans = {"ALLOC": allocate(total, models), "PROP": proportional(total, models)}
        known = duel.known.get(x, ("", "", ""))
        for n, (name, plan) in enumerate(plans.items()):
            points += _recall(name, plan, x, (known[n], run))
        share = plans["ALLOC"].memory
        for n, join in enumerate(duel.joins):
            percent = 100 * share[n] / (2 * WINDOW)
            first = known[2] if n == 0 else ""
            points.append(Point("", join, x, SHARE, percent, "", first))
    return Part(duel.name, duel.title, duel.x, points, figure=_picture(duel, points))


def _recall(
    name: str, plan: Allocation, x: float, how: tuple[float | str, Runner]
) -> list[Point]:
    known, run = how
    found = [run(n, x, round(rows)) for n, rows in enumerate(plan.memory)]
    planned = Point("", PLANNED[name], x, RECALL, plan.minimum, "", known)
    return [planned, Point("", f"{name}, measured", x, RECALL, min(found), "", known)]


def _picture(duel: Duel, points: list[Point]) -> Figure:
    styles = STYLES | dict(zip(duel.joins, SHARES, strict=True))
    labels = {RECALL: "minimum recall", SHARE: "memory by ALLOC\n(% of both windows)"}
    return grid(points, styles=styles, x=duel.x, labels=labels)


def claim(part: Part, where: str, says: str, why: str = "") -> Claim:
    """ALLOC keeps up or rises while PROP does not, and never falls behind it."""
    ours = values(part.points, series=ALLOC)
    theirs = values(part.points, series=PROP)
    text = [
        f"{name} " + ", ".join(f"{value:.3f}" for value in column)
        for name, column in (("ALLOC", ours), ("PROP", theirs))
    ]
    places = [point.x for point in part.points if point.series == ALLOC]
    ahead = all(a > b - 0.02 for a, b in zip(ours, theirs, strict=True))
    far = ours[-1] > theirs[-1] + 0.1
    shape = says_shape(ours, theirs) if where == "Fig. 10" else ours == sorted(ours)
    at = f"at {places[0]:g} to {places[-1]:g}: "
    return Claim(where, says, at + "; ".join(text), verdict(ahead, far, shape), why)


def says_shape(ours: list[float], theirs: list[float]) -> bool:
    """ALLOC almost constant, PROP falling all along."""
    return max(ours) - min(ours) < 0.1 and theirs == sorted(theirs, reverse=True)
