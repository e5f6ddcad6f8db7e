"""Figures 8 to 10: how long it takes to plan a harvest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter

import numpy as np

from experiments.charts import grid
from experiments.grubjoin.loads import drawn
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.lab.plan import Harvest, HarvestLoad, best_harvest, greedy_harvest
from shedjoin.plan.harvest_greedy import Side

Plan = Callable[[float, HarvestLoad], Harvest]
MS = "ms"
STREAMS = (3, 4, 5)
WINDOWS = (5, 10, 15, 20)
SHARES = (0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95)
JOINS, TIMES, SEED = 20, 7, 8
SIDES: dict[str, Side] = {
    "greedy": "grow",
    "greedy reverse": "shrink",
    "double-sided": "double",
}
COLOURS = ("#b99a3e", "#c8553d", "#1f6f8b")
STYLES = {
    "optimum, m = 3": {"color": "#222222", "marker": "s", "linestyle": ":"},
    **{
        f"greedy, m = {m}": {"color": colour, "marker": marker}
        for m, colour, marker in zip(STREAMS, COLOURS, "oD^", strict=True)
    },
}
SIDE_STYLES = {
    "greedy": {"color": "#b99a3e", "marker": "D"},
    "greedy reverse": {"color": "#c8553d", "marker": "^"},
    "double-sided": {"color": "#1f6f8b", "marker": "o", "linestyle": "--"},
}
GROW: Plan = partial(greedy_harvest, side="grow")


def measure(session: Session) -> list[Part]:
    joins = 3 if session.quick else JOINS
    return [_by_windows(session, joins), _by_share(session, joins), _sides(joins)]


def milliseconds(plan: Plan, share: float, loads: Iterable[HarvestLoad]) -> float:
    """Mean over joins, each planned some times; the fastest counts."""
    best = []
    for load in loads:
        spent = []
        for _ in range(TIMES):
            start = perf_counter()
            plan(share * load.work, load)
            spent.append(perf_counter() - start)
        best.append(1000 * min(spent))
    return float(np.mean(best))


def _loads(joins: int, streams: int, windows: int) -> list[HarvestLoad]:
    rng = np.random.default_rng(SEED)
    return [drawn(rng, streams, windows) for _ in range(joins)]


def _by_windows(session: Session, joins: int) -> Part:
    points = []
    for windows in session.each(WINDOWS, "figure 8"):
        for streams in STREAMS:
            loads = _loads(joins, streams, windows)
            took = milliseconds(GROW, 0.25, loads)
            points.append(Point("", f"greedy, m = {streams}", windows, MS, took))
            if streams == 3:
                best = milliseconds(best_harvest, 0.25, loads)
                told = {10: 3000.0, 20: 30_000.0}.get(windows, "")
                points.append(Point("", "optimum, m = 3", windows, MS, best, told))
    part = Part(
        "figure_8_basic_windows",
        "Figure 8: time to plan, by the number of basic windows (z = 0.25)",
        "n",
        points,
    )
    slowest = values(points, series="greedy, m = 5")
    fastest, optimum = (
        values(points, series=series) for series in ("greedy, m = 3", "optimum, m = 3")
    )
    factors = [one / other for one, other in zip(optimum, fastest, strict=True)]
    part.claims = [
        Claim(
            "Figure 8",
            "greedy plans within 10 ms for m = 5 and n up to 20, much faster for m = 3",
            f"{max(slowest):.1f} ms at most for m = 5, {max(fastest):.1f} for m = 3",
            verdict(max(slowest) <= 10, max(fastest) < max(slowest) / 2),
        ),
        Claim(
            "Figure 8",
            "the exhaustive search takes orders of magnitude longer than greedy: 3 s "
            "for m = 3 and n = 10, 30 s for n = 20",
            f"the optimum takes {min(factors):.0f} to {max(factors):.0f} times as "
            f"long, {max(optimum):.0f} ms at most",
            verdict(min(factors) >= 100),
            "`plan.best_harvest` finds the same optimum without trying all "
            "configurations: results and work add up over directions.",
        ),
    ]
    part.figure = grid(
        points,
        styles=STYLES,
        x="basic windows of each window (n)",
        labels={MS: "ms per plan"},
        published={"optimum, m = 3": "exhaustive, published"},
        log=(MS,),
    )
    return part


def _by_share(session: Session, joins: int) -> Part:
    points = []
    for streams in session.each(STREAMS, "figure 9"):
        loads = _loads(joins, streams, 10)
        for share in SHARES:
            took = milliseconds(GROW, share, loads)
            points.append(Point("", f"greedy, m = {streams}", share, MS, took))
    part = Part(
        "figure_9_throttle",
        "Figure 9: time to plan, by the throttle fraction (n = 10)",
        "z",
        points,
    )
    spent = [values(points, series=f"greedy, m = {m}") for m in STREAMS]
    part.claims = [
        Claim(
            "Figure 9",
            "planning takes longer the closer z is to 1",
            "; ".join(
                f"m = {m}: {each[0]:.2f} ms at {SHARES[0]}, {each[-1]:.2f} at "
                f"{SHARES[-1]}"
                for m, each in zip(STREAMS, spent, strict=True)
            ),
            verdict(*(each[-1] > 1.5 * each[0] for each in spent)),
        )
    ]
    part.figure = grid(
        points, styles=STYLES, x="throttle fraction z", labels={MS: "ms per plan"}
    )
    return part


def _sides(joins: int) -> Part:
    loads = _loads(joins, 3, 10)
    points = [
        Point(
            "",
            name,
            share,
            MS,
            milliseconds(partial(greedy_harvest, side=side), share, loads),
        )
        for name, side in SIDES.items()
        for share in SHARES
    ]
    part = Part(
        "figure_10_greedy_variants",
        "Figure 10: time to plan, from nothing, from all, and from the nearer "
        "(m = 3, n = 10)",
        "z",
        points,
    )
    part.claims = [_best_of_both(points)]
    part.figure = grid(
        points, styles=SIDE_STYLES, x="throttle fraction z", labels={MS: "ms per plan"}
    )
    return part


def _best_of_both(points: list[Point]) -> Claim:
    grow, shrink, double = (values(points, series=name) for name in SIDES)
    over = [
        both / min(one, other)
        for one, other, both in zip(grow, shrink, double, strict=True)
    ]
    return Claim(
        "Figure 10",
        "greedy double-sided switches at z = 0.5 and is as fast as the faster of both",
        f"{min(over):.2f} to {max(over):.2f} times the time of the faster; "
        f"{over[0]:.2f} at {SHARES[0]}, {over[-1]:.2f} at {SHARES[-1]}",
        verdict(over[0] < 1.3 and over[-1] < 1.3, max(over) < 1.5),
        "Where the two cross depends on the join.",
    )
