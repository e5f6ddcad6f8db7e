"""Figures 8 and 9 and section 6.2.4: errors of averages over samples of the join."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from experiments.charts import grid
from experiments.memory_limited import aggregate_claims as claims
from experiments.memory_limited.aggregate_claims import (
    EMPTY,
    OVER_MEAN,
    RELATIVE,
    SAMPLED,
)
from experiments.memory_limited.samples import Errors, SampledTrial
from experiments.memory_limited.schemes import (
    EQ,
    PPS,
    STYLES,
    UNIFORM,
    frequencies,
    schemes,
)
from experiments.memory_limited.streams import WINDOW, keyed, valued
from experiments.part import Part, Point, Session

MEMORIES = (5, 10, 20, 30, 50, 70, 90, 100)
VARIATIONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
PERCENT = 10
TYPICAL = 1.0
"""Coefficient of variation; samples are the same whatever it is."""
LABELS = {
    RELATIVE: "relative error",
    OVER_MEAN: "error over mu",
}
Found = dict[tuple[str, float], list[Errors]]
"""Errors of each run, by series and x."""


class Sweep(NamedTuple):
    """Errors while something changes, and where relative ones are known."""

    name: str
    title: str
    x: str
    axis: str
    places: tuple[float, ...]
    known: dict[str, tuple[float, ...]]
    drawn: tuple[str, ...] = (RELATIVE, OVER_MEAN)

    def reference(self, series: str, x: float) -> float | str:
        """What plain simulations gave; empty if they did not look there."""
        if series in self.known and x in self.places:
            return self.known[series][self.places.index(x)]
        return ""


BY_MEMORY = Sweep(
    "figure_8_aggregate_memory",
    "Figure 8: error of an average against memory, IC, Z = 2",
    "memory (%)",
    "memory (% of the window)",
    MEMORIES,
    {
        UNIFORM: (0.349, 0.295, 0.222, 0.189, 0.175, 0.161, 0.171, 0.161),
        PPS: (0.244, 0.147, 0.121, 0.080, 0.069, 0.041, 0.017, 0.0),
        EQ: (1.27, 1.31, 1.16, 1.04, 0.50, 0.27, 0.07, 0.0),
    },
)
BY_VARIATION = Sweep(
    "figure_9_aggregate_variance",
    f"Figure 9: error of an average against variance, UC, Z = 2, {PERCENT} % memory",
    "sigma/mu",
    "coefficient of variation sigma/mu",
    VARIATIONS,
    {
        UNIFORM: (0.007, 0.019, 0.037, 0.080, 0.123, 0.181),
        PPS: (0.007, 0.017, 0.033, 0.069, 0.114, 0.163),
        EQ: (0.025, 0.062, 0.127, 0.324, 0.589, 0.884),
    },
)
ON_S2 = Sweep(
    "section_6_2_4_aggregate_on_s2",
    f"Section 6.2.4: average of an attribute of S2, UC, Z = 2, {PERCENT} % memory",
    "sigma/mu",
    "coefficient of variation sigma/mu",
    (TYPICAL,),
    {UNIFORM: (0.078,), PPS: (0.025,), EQ: (0.060,)},
    (RELATIVE,),
)


def measure(session: Session) -> list[Part]:
    return [_by_memory(session), *_by_variation(session)]


def _trial(session: Session, case: str, seed: int) -> SampledTrial:
    left, right = frequencies(case, seed)
    seconds = 1500 if session.quick else 4000
    stream = keyed(left, right, seconds=seconds, warm_s=2 * WINDOW, seed=seed)
    return SampledTrial.of(valued(stream, seed=seed), seconds)


def _by_memory(session: Session) -> Part:
    memories, seeds = ((10, 50), 2) if session.quick else (MEMORIES, 12)
    found: Found = defaultdict(list)
    for seed in session.each(range(seeds), "figure 8"):
        trial, both = _trial(session, "IC", seed), frequencies("IC", seed)
        for percent in memories:
            for series, scheme in schemes(*both, percent, seed).items():
                averages = trial.sample(*scheme)
                found[series, percent].append(trial.errors(averages, 0, TYPICAL))
    part = _part(BY_MEMORY, found)
    part.claims += claims.by_memory(part)
    return part


def _by_variation(session: Session) -> list[Part]:
    variations, seeds = ((0.5, 1.0), 2) if session.quick else (VARIATIONS, 24)
    found: tuple[Found, Found] = defaultdict(list), defaultdict(list)
    for seed in session.each(range(seeds), "figure 9"):
        trial, both = _trial(session, "UC", seed), frequencies("UC", seed)
        for series, scheme in schemes(*both, PERCENT, seed).items():
            averages = trial.sample(*scheme)
            for x in variations:
                for side in (0, 1):
                    found[side][series, x].append(trial.errors(averages, side, x))
    left, right = _part(BY_VARIATION, found[0]), _part(ON_S2, found[1])
    left.claims += claims.by_variation(left)
    right.claims.append(claims.on_right(right))
    return [left, right]


def _part(sweep: Sweep, found: Found) -> Part:
    points: list[Point] = []
    for (series, x), runs in found.items():
        points += _errors(series, x, runs, sweep.reference(series, x))
        if sweep.x == BY_MEMORY.x or x == TYPICAL:
            points += _samples(series, x, runs)
    order = [RELATIVE, OVER_MEAN, SAMPLED, EMPTY]
    points.sort(key=lambda point: order.index(point.measure))
    return Part(
        sweep.name, sweep.title, sweep.x, points, figure=_picture(sweep, points)
    )


def _errors(
    series: str, x: float, runs: list[Errors], known: float | str
) -> list[Point]:
    """Means over all instants of all runs."""
    total = _total(runs)
    relative, absolute = (
        error / max(1, total.estimated) for error in (total.relative, total.absolute)
    )
    return [
        Point("", series, x, RELATIVE, relative, "", known),
        Point("", series, x, OVER_MEAN, absolute),
    ]


def _samples(series: str, x: float, runs: list[Errors]) -> list[Point]:
    total = _total(runs)
    empty = total.empty / (total.empty + total.estimated)
    return [
        Point("", series, x, SAMPLED, 100 * total.sampled / total.rows),
        Point("", series, x, EMPTY, 100 * empty),
    ]


def _total(runs: list[Errors]) -> Errors:
    return Errors(*map(sum, zip(*runs, strict=True)))


def _picture(sweep: Sweep, points: list[Point]) -> Figure:
    labels = {measure: LABELS[measure] for measure in sweep.drawn}
    figure = grid(points, styles=STYLES, x=sweep.axis, labels=labels)
    # Errors of the schemes differ by a factor of ten and more: their numbers are long.
    figure.subplots_adjust(left=0.125)
    for axes in figure.axes:
        axes.set_yscale("log")
        axes.autoscale(axis="y")
        axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    return figure
