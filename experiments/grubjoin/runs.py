"""Joins that may do a share of their work, counted in comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.harvest import nested_loop
from experiments.grubjoin.streams import Scene
from experiments.part import Point, Value, find
from shedjoin import Band, Budget, local
from shedjoin.policies import Harvest, RandomDrop
from shedjoin.policies.gedik import PredicatePolicy

WINDOW_S, EPS = 20, 1.0
SHED_S, COUNTED_S = 120, 40
"""Work and results count long after the windows are full: rates are then learned."""
WHOLE_S = 40
SEEDS = 2
POLICIES: dict[str, PredicatePolicy] = {
    "GrubJoin": Harvest(),
    "RandomDrop": RandomDrop(),
}
STYLES = {
    "GrubJoin": {"color": "#1f6f8b", "marker": "o"},
    "RandomDrop": {"color": "#c8553d", "marker": "^", "linestyle": "--"},
}
RATE, GAIN = "results per second", "gain (%)"
LABELS = {RATE: "results per second", GAIN: "gain of GrubJoin\n(%)"}
WORK = "work over the budget"


class Measured(NamedTuple):
    """Results and comparisons per second."""

    results: float
    looked: float

    def work(self, result_cost: float) -> float:
        return self.looked + result_cost * self.results


def joined(
    batches: Iterable[Mapping[str, pa.Table]],
    names: str,
    keep: PredicatePolicy | None,
    control: Mapping[int, list[dict[str, Any]]],
) -> local.Run:
    """Join by distance as a nested loop does, under a throttle that is told."""
    with nested_loop():
        return local.multijoin(
            batches,
            on=Band("x", EPS),
            within=f"{WINDOW_S} seconds",
            time=dict.fromkeys(names, "time"),
            budget=Budget(cpu=0.9),
            keep=keep,
            control=control,
        )


def run(
    scene: Scene,
    policy: PredicatePolicy,
    throttle: dict[str, float],
    seed: int,
    seconds: int = SHED_S,
) -> Measured:
    """Join with a throttle, in micro-batches of a second; the last ones count."""
    rng = np.random.default_rng(seed)
    batches = (scene.rows(rng, second, 1) for second in range(seconds))
    done = joined(batches, scene.names, policy, {0: [{"throttle": throttle}]})
    return _last(done, COUNTED_S * seconds // SHED_S)


@cache
def whole(scene: Scene) -> Measured:
    """Join with nothing shed, until some seconds after the windows are full."""
    rng = np.random.default_rng(0)
    batches = (scene.rows(rng, second, 1) for second in range(WHOLE_S))
    return _last(joined(batches, scene.names, None, {}), WHOLE_S - WINDOW_S)


def compared(
    place: tuple[str, float],
    scene: Scene,
    budget: float,
    *,
    quick: bool,
    result_cost: float = 0.0,
    reference: Value = "",
    published: Value = "",
) -> list[Point]:
    """Both policies on the same streams; ``budget`` is work per second.

    ``reference`` and ``published`` are gains in percent.
    """
    panel, x = place
    share = min(1.0, budget / whole(scene).work(result_cost))
    throttle = {"share": share, "update": 1.0, "match": result_cost}
    points, results = [], []
    for name, policy in POLICIES.items():
        seconds = 24 if quick else SHED_S
        seeds = range(1, 2 if quick else SEEDS + 1)
        runs = [run(scene, policy, throttle, seed, seconds) for seed in seeds]
        results.append(float(np.mean([one.results for one in runs])))
        used = float(np.mean([one.work(result_cost) for one in runs])) / budget
        points.append(Point(panel, name, x, RATE, results[-1]))
        points.append(Point(panel, name, x, WORK, used))
    gain = 100 * (results[0] / results[1] - 1)
    told = Point(panel, "GrubJoin", x, GAIN, gain, published, reference)
    return [*points, told]


def gains(points: list[Point], panel: str) -> dict[float, float]:
    """Of GrubJoin over RandomDrop in percent, by x."""
    some = find(points, panel=panel, measure=GAIN)
    return {float(point.x): float(point.measured) for point in some}


def percents(found: Mapping[float, float], unit: str = "") -> str:
    return ", ".join(f"{gain:+.0f} % at {x:g}{unit}" for x, gain in found.items())


def work_range(points: list[Point], series: str, panel: str, least: float) -> str:
    """Least and most work over the budget, from an x on."""
    used = [
        float(point.measured)
        for point in find(points, series=series, panel=panel, measure=WORK)
        if float(point.x) >= least
    ]
    return f"{min(used):.2f} to {max(used):.2f}"


def _last(done: local.Run, seconds: int) -> Measured:
    reports = [batch.report for batch in done.batches[-seconds:]]
    return Measured(
        sum(report.matched for report in reports) / len(reports),
        sum(report.looked for report in reports) / len(reports),
    )
