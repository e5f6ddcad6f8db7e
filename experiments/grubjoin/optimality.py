"""Figure 7: how close to the optimum the greedy heuristic comes, by its metric."""

from __future__ import annotations

from itertools import product

import numpy as np

from experiments.charts import grid
from experiments.grubjoin.loads import SELECTIVITIES, drawn
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.lab.plan import best_harvest, greedy_harvest
from shedjoin.plan.harvest_greedy import Metric, Side

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
RUNS, SEED = 500, 7
DELTA, DEFAULT = "BestDelta", "BestDelta, double-sided"
OUTPUT, PER_COST = "BestOutput", "BestOutputPerCost"
SERIES: dict[str, tuple[Metric, Side]] = {
    OUTPUT: ("results", "grow"),
    PER_COST: ("results_per_work", "grow"),
    DELTA: ("delta", "grow"),
    DEFAULT: ("delta", "double"),
}
STYLES = {
    OUTPUT: {"color": "#c8553d", "marker": "^"},
    PER_COST: {"color": "#b99a3e", "marker": "D"},
    DELTA: {"color": "#1f6f8b", "marker": "o"},
    DEFAULT: {"color": "#7db7cc", "marker": "P", "linestyle": "--"},
}
PANELS = {
    f"{'flat' if flat else 'normal'} lags, selectivity {name}": (name, flat)
    for flat, name in product((True, False), SELECTIVITIES)
}
MEAN, WORST = "optimality, mean", "optimality, worst"


def measure(session: Session) -> list[Part]:
    points = [
        point
        for panel in session.each(list(PANELS), "figure 7")
        for point in _panel(panel, 10 if session.quick else RUNS)
    ]
    part = Part(
        "figure_7_optimality", "Figure 7: optimality of the heuristic", "z", points
    )
    part.claims = [_delta(points), _high(points), _output(points), _per_cost(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="throttle fraction z",
        labels={MEAN: f"results over the\noptimum, mean of {RUNS}", WORST: "worst run"},
        bottom={MEAN: 0.7},
    )
    return [part]


def _panel(panel: str, runs: int) -> list[Point]:
    name, flat = PANELS[panel]
    rng = np.random.default_rng(SEED)
    loads = [drawn(rng, draw=SELECTIVITIES[name], flat=flat) for _ in range(runs)]
    points = []
    for share in SHARES:
        found: dict[str, list[float]] = {series: [] for series in SERIES}
        for load in loads:
            work = share * load.work
            best = best_harvest(work, load).results
            for series, (metric, side) in SERIES.items():
                got = greedy_harvest(work, load, metric=metric, side=side).results
                found[series].append(got / best)
        for series, ratios in found.items():
            points.append(Point(panel, series, share, MEAN, float(np.mean(ratios))))
            points.append(Point(panel, series, share, WORST, min(ratios)))
    return points


def _means(points: list[Point], series: str, low: float, high: float) -> list[float]:
    """Those of all panels, at shares from one to another."""
    return [
        value
        for share in SHARES
        if low <= share <= high
        for value in values(points, series=series, x=share, measure=MEAN)
    ]


def _range(found: list[float]) -> str:
    return f"{min(found):.3f} to {max(found):.3f}"


def _delta(points: list[Point]) -> Claim:
    low, worst = _means(points, DELTA, 0, 0.4), values(points, series=DELTA)
    return Claim(
        "Figure 7",
        "BestDelta is within 0.98 of the optimum for z up to 0.4",
        f"{_range(low)} on average; a single join falls to {min(worst):.2f}",
        verdict(all(one >= 0.98 for one in low), any(one >= 0.98 for one in low)),
        "Selectivities are not given; the mean depends on them, and on z.",
    )


def _high(points: list[Point]) -> Claim:
    high = _means(points, DELTA, 0.5, 1)
    return Claim(
        "Figure 7",
        "BestDelta is optimal for z above 0.4",
        f"{_range(high)} on average",
        verdict(all(one >= 0.99 for one in high), all(one >= 0.999 for one in high)),
        "Nearly: a basic window that no longer fits leaves work unused.",
    )


def _output(points: list[Point]) -> Claim:
    low, high = _means(points, OUTPUT, 0, 0.3), _means(points, OUTPUT, 0.5, 1)
    return Claim(
        "Figure 7",
        "BestOutput performs well only for z above 0.4",
        f"{_range(low)} up to 0.3, {_range(high)} from 0.5 on",
        verdict(min(high) > 0.9, np.mean(low) < np.mean(high) - 0.05),
    )


def _per_cost(points: list[Point]) -> Claim:
    small = _means(points, PER_COST, 0, 0.1)
    large = _means(points, PER_COST, 0.2, 0.4)
    return Claim(
        "Figure 7",
        "BestOutputPerCost performs well only for z below 0.2",
        f"{_range(small)} up to 0.1, {_range(large)} from 0.2 to 0.4",
        verdict(min(small) > 0.95, np.mean(large) < np.mean(small) - 0.05),
        "With flat lags it is good at all z; with normal ones worst from 0.2 to 0.3.",
    )
