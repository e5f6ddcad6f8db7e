"""Figure 14: how often the throttle is set while rates change."""

from __future__ import annotations

import numpy as np

from experiments.charts import grid
from experiments.grubjoin.loop import STEP_S, Machine
from experiments.grubjoin.runs import RATE, whole
from experiments.grubjoin.streams import Scene
from experiments.part import Claim, Part, Point, Session, find, verdict

PERIODS = (0.5, 1.0, 3.0, 5.0, 8.0)
STREAMS = (3, 4, 5)
RATES, STRETCH_S = (100, 150, 50), 8
CYCLES, SEEDS = 3, 2
PUBLISHED = {3: 0.5, 4: 1.0, 5: 3.0}
DROPPED = "rows dropped per second"
STYLES = {
    f"m = {m}": {"color": colour, "marker": marker}
    for m, colour, marker in zip(
        STREAMS, ("#b99a3e", "#c8553d", "#1f6f8b"), "oD^", strict=True
    )
}


def rate_at(second: float) -> float:
    """The rates of the paper, over and over."""
    return RATES[int(second // STRETCH_S) % len(RATES)]


def measure(session: Session) -> list[Part]:
    capacity = whole(Scene(rate=100)).looked
    periods = (0.5, 5.0) if session.quick else PERIODS
    ways = STREAMS[:1] if session.quick else STREAMS
    points: list[Point] = []
    cases = [(streams, period) for streams in ways for period in periods]
    for streams, period in session.each(cases, "figure 14"):
        cycles, seeds = (2, 1) if session.quick else (CYCLES, SEEDS)
        runs = [
            _run(streams, period, capacity, cycles, seed)
            for seed in range(1, seeds + 1)
        ]
        name = f"m = {streams}"
        results, dropped = np.mean(runs, axis=0).tolist()
        points.append(Point("", name, period, RATE, results))
        points.append(Point("", name, period, DROPPED, dropped))
    part = Part(
        "figure_14_adaptation",
        "Figure 14: results by the time between two settings of the throttle",
        "Delta (s)",
        points,
    )
    part.claims = [_best(points), _slow(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="adaptation period Delta (s)",
        labels={RATE: "results per second", DROPPED: "rows dropped\nper second"},
    )
    return [part]


def _run(
    streams: int, period: float, capacity: float, cycles: int, seed: int
) -> tuple[float, float]:
    """Results and dropped rows per second, without the first cycle."""
    length = len(RATES) * STRETCH_S
    scene = Scene(streams=streams, rate=100)
    machine = Machine(
        scene, capacity, cycles * length, period, rate_at=rate_at, seed=seed
    )
    done = machine.run()
    first, seconds = round(length / STEP_S), (cycles - 1) * length
    return sum(done.results[first:]) / seconds, sum(done.dropped[first:]) / seconds


def _by_period(points: list[Point]) -> dict[int, dict[float, float]]:
    return {
        m: {float(point.x): float(point.measured) for point in found}
        for m in STREAMS
        if (found := find(points, series=f"m = {m}", measure=RATE))
    }


def _best(points: list[Point]) -> Claim:
    found = _by_period(points)
    best = {m: max(each, key=lambda x: each[x]) for m, each in found.items()}
    return Claim(
        "Figure 14",
        "the best period is 0.5 s for m = 3, 1 s for m = 4 and 3 s for m = 5, as "
        "planning takes longer",
        ", ".join(f"{period:g} s for m = {m}" for m, period in best.items()),
        verdict(*(period == PUBLISHED[m] for m, period in best.items())),
        "Planning is no part of the work here. With m = 5 runs of other seeds differ "
        "by a factor of two and more, so that its best period is not settled.",
    )


def _slow(points: list[Point]) -> Claim:
    found = _by_period(points)
    lost = {
        m: 100 * (1 - each[5.0] / max(each.values()))
        for m, each in found.items()
        if 5.0 in each
    }
    return Claim(
        "Figure 14",
        "the default period of 5 s is too long where rates change often",
        "at 5 s less than at the best by "
        + ", ".join(f"{one:.0f} % for m = {m}" for m, one in lost.items()),
        verdict(*(one > 5 for one in lost.values())),
        "For m = 5 that is no more than the spread of runs.",
    )
