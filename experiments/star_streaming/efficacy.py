"""Figure 4: importance and size of what is found, by memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from experiments.charts import EXACT, grid
from experiments.part import Claim, Part, Point, Session, find, values, verdict
from experiments.star_streaming.heuristics import shed
from experiments.star_streaming.rand import random_shedding
from experiments.star_streaming.streams import drawn
from shedjoin.lab.offline import Parts, StarArchive, star_join, star_optimum
from shedjoin.policies import Rand

MEMORY = (2, 4, 6, 8, 10)
ROWS, SEEDS = 5000, 6
IMPORTANCE, SIZE, RATIO = "importance", "results", "OSSJ over SJA-S, importance"
OSSJ, SJA, RAND = "OSSJ", "SJA-S", "RAND-S"
ONE_LOT, WINDOW = "Rand, by the operator", 10
PUBLISHED = {OSSJ: (2184, 4107), SJA: (2221, 3797)}
"""Results and importance for M = 4."""
KNOWN = {SJA: dict(zip(MEMORY, (1465, 2177, 2529, 2662, 2710), strict=True))}
KNOWN[EXACT] = dict.fromkeys(MEMORY, 2721)
"""Results for seed 1; they do not depend on importances."""
STYLES = {
    OSSJ: {"color": "#1f6f8b", "marker": "o"},
    SJA: {"color": "#b99a3e", "marker": "D", "linestyle": "--"},
    RAND: {"color": "#c8553d", "marker": "^", "linestyle": ":"},
}
NO_DOMAIN = "Number of values and importances are not in the paper."


def length(session: Session) -> int:
    return 500 if session.quick else ROWS


def measure(session: Session) -> list[Part]:
    seeds = range(1, 3 if session.quick else SEEDS + 1)
    points: list[Point] = []
    ratios: list[Point] = []
    for seed in session.each(seeds, "figure 4"):
        archive = drawn(seed, rows=length(session))
        some = _points(archive, seed, quick=session.quick)
        points += [*some, *_one_lot(archive)] if seed == 1 else []
        ratios += [
            Point("", f"seed {seed}", memory, RATIO, _ratio(some, memory), told)
            for memory in MEMORY
            for told in [round(4107 / 3797, 3) if memory == 4 else ""]
        ]
    figure = Part(
        "figure_4_efficacy", "Figure 4: what is found, by memory", "M", points
    )
    figure.claims = [
        _less_error(points),
        _traded(points),
        _four(points, ratios),
        _converges(points),
        _above_random(points),
    ]
    figure.figure = grid(
        points,
        styles=STYLES,
        x="memory M (rows)",
        labels={IMPORTANCE: "importance", SIZE: "results"},
        published={OSSJ: "OSSJ, published", SJA: "SJA-S, published"},
    )
    title = "Figure 4: importance of OSSJ over that of SJA-S, by stream"
    return [figure, Part("figure_4_seeds", title, "M", ratios)]


def _points(archive: StarArchive, seed: int, *, quick: bool) -> list[Point]:
    exact, points = star_join(archive), []
    for memory in MEMORY:
        found: dict[str, Parts] = {
            OSSJ: star_optimum(archive, rows=memory).parts,
            SJA: star_optimum(
                archive, rows=memory, most="results", prefilter="relation"
            ).parts,
            RAND: random_shedding(archive, memory, seed),
            EXACT: exact,
        }
        for name, parts in found.items():
            told = PUBLISHED.get(name, ("", "")) if memory == 4 else ("", "")
            known = "" if quick else KNOWN.get(name, {}).get(memory, "")
            points.append(Point("", name, memory, SIZE, parts.size, told[0], known))
            points.append(
                Point("", name, memory, IMPORTANCE, parts.importance, told[1])
            )
    return points


def _one_lot(archive: StarArchive) -> list[Point]:
    """A policy whose rows draw their lots once, where those of RAND-S draw anew."""
    points = []
    for memory in MEMORY:
        found = shed(archive, Rand(seed=1), memory, WINDOW)
        points.append(Point("", ONE_LOT, memory, SIZE, found.matched))
        points.append(Point("", ONE_LOT, memory, IMPORTANCE, float(found.importance)))
    return points


def _ratio(points: list[Point], memory: int) -> float:
    ours, theirs = (
        values(points, series=name, x=memory, measure=IMPORTANCE)[0]
        for name in (OSSJ, SJA)
    )
    return ours / theirs


def _series(points: list[Point], name: str, measure: str) -> list[float]:
    return values(points, series=name, measure=measure)


def _less_error(points: list[Point]) -> Claim:
    found = {name: _series(points, name, IMPORTANCE) for name in STYLES}
    return Claim(
        "Figure 4",
        "the error decreases with memory for all techniques",
        "; ".join(f"{n}: {each[0]:.0f} to {each[-1]:.0f}" for n, each in found.items()),
        verdict(*(a < b for each in found.values() for a, b in pairwise(each))),
    )


def _traded(points: list[Point]) -> Claim:
    fewer, more = (
        np.subtract(_series(points, one, measure), _series(points, other, measure))
        for one, other, measure in ((SJA, OSSJ, SIZE), (OSSJ, SJA, IMPORTANCE))
    )
    return Claim(
        "Figure 4",
        "SJA-S has more results, OSSJ has more importance, for all memory sizes",
        f"OSSJ has {fewer.min():.0f} to {fewer.max():.0f} results less, and "
        f"{more.min():.0f} to {more.max():.0f} more importance",
        verdict(bool((fewer >= 0).all()), bool((more > 0).all())),
        "With much memory both can have the same number of results.",
    )


def _four(points: list[Point], ratios: list[Point]) -> Claim:
    told = [
        f"{name} {find(points, series=name, x=4, measure=SIZE)[0].measured:.0f}, "
        f"{find(points, series=name, x=4, measure=IMPORTANCE)[0].measured:.0f}"
        for name in PUBLISHED
    ]
    ratio = values(ratios, x=4)
    near = [
        abs(values(points, series=name, x=4, measure=SIZE)[0] / size - 1) < 0.05
        for name, (size, _) in PUBLISHED.items()
    ]
    return Claim(
        "Figure 4",
        "for M = 4 OSSJ 2184, 4107 and SJA-S 2221, 3797 (results, importance): OSSJ "
        "has 1.082 times the importance",
        f"{'; '.join(told)}; {min(ratio):.3f} to {max(ratio):.3f} times over "
        f"{len(ratio)} streams",
        verdict(all(near), min(ratio) <= 1.082 <= max(ratio)),
        NO_DOMAIN,
    )


def _converges(points: list[Point]) -> Claim:
    exact = _series(points, EXACT, IMPORTANCE)[0]
    shares = {
        name: [each / exact for each in _series(points, name, IMPORTANCE)]
        for name in (OSSJ, SJA)
    }
    return Claim(
        "Figure 4",
        "SJA-S converges upon OSSJ, and both upon EXACT quickly",
        "; ".join(
            f"{name}: {', '.join(f'{share:.3f}' for share in each)} of EXACT"
            for name, each in shares.items()
        ),
        verdict(*(each[-1] > 0.98 for each in shares.values())),
    )


def _above_random(points: list[Point]) -> Claim:
    factors = [
        np.divide(_series(points, name, IMPORTANCE), _series(points, RAND, IMPORTANCE))
        for name in (OSSJ, SJA)
    ]
    return Claim(
        "Figure 4",
        "OSSJ and SJA-S outperform RAND-S for all memory sizes",
        f"{min(map(np.min, factors)):.1f} to {max(map(np.max, factors)):.1f} times "
        "its importance",
        verdict(*(bool((each > 1).all()) for each in factors)),
    )
