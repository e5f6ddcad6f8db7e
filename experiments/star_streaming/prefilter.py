"""Figure 5: how much faster the optimum is found with the prefilter."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

from experiments.charts import grid
from experiments.part import Claim, Part, Point, Session, values, verdict
from experiments.star_streaming.efficacy import length
from experiments.star_streaming.streams import drawn
from shedjoin.lab.offline import StarArchive, star_optimum
from shedjoin.lab.offline.star_side import Prefilter

FACTS = (25, 50, 100, 150, 200, 250, 500)
MEMORY, TIMES = 10, 3
SECONDS, SPEED_UP = "seconds", "times as fast"
SERIES: dict[str, Prefilter] = {
    "without prefilter": "none",
    "with prefilter": "relation",
    "rows with a match to come": "matches",
}
STYLES = {
    "without prefilter": {"color": "#c8553d", "marker": "^"},
    "with prefilter": {"color": "#1f6f8b", "marker": "o"},
    "rows with a match to come": {"color": "#222222", "marker": "s", "linestyle": ":"},
}


def measure(session: Session) -> list[Part]:
    points: list[Point] = []
    for facts in session.each(FACTS, "figure 5"):
        archive = drawn(1, rows=length(session), facts=facts)
        star_optimum(archive, rows=MEMORY)  # compiled
        spent = {name: _seconds(archive, how) for name, how in SERIES.items()}
        points += [Point("", name, facts, SECONDS, spent[name]) for name in SERIES]
        points += [
            Point("", name, facts, SPEED_UP, spent["without prefilter"] / spent[name])
            for name in list(SERIES)[1:]
        ]
    part = Part(
        "figure_5_prefilter",
        f"Figure 5: time to find the optimum, by the size of F (M = {MEMORY})",
        "rows of F",
        points,
    )
    part.claims = [_faster(points), _grows(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="rows of the relation",
        labels={SECONDS: "seconds", SPEED_UP: "times as fast as\nwithout prefilter"},
        log=(SECONDS, SPEED_UP),
    )
    return [part]


def _seconds(archive: StarArchive, prefilter: Prefilter) -> float:
    """The fastest of a few times."""
    spent = []
    for _ in range(TIMES):
        start = perf_counter()
        star_optimum(archive, rows=MEMORY, prefilter=prefilter)
        spent.append(perf_counter() - start)
    return min(spent)


def speed_ups(points: list[Point]) -> list[float]:
    return values(points, series="with prefilter", measure=SPEED_UP)


def _faster(points: list[Point]) -> Claim:
    found = speed_ups(points)
    own = values(points, series="rows with a match to come", measure=SPEED_UP)
    return Claim(
        "Figure 5",
        "OSSJ is faster with the prefilter than without it",
        f"{min(found):.2f} to {max(found):.1f} times as fast",
        verdict(*(each > 1 for each in found)),
        "If rows also leave with their last match, and none leaves before one that "
        f"gains no more, it is {min(own):.0f} to {max(own):.0f} times as fast.",
    )


def _grows(points: list[Point]) -> Claim:
    found = speed_ups(points)
    told = ", ".join(
        f"{each:.2f} at {facts}" for facts, each in zip(FACTS, found, strict=True)
    )
    return Claim(
        "Figure 5",
        "the smaller F is, the more the prefilter improves",
        f"times as fast: {told}",
        verdict(*(small > large for small, large in pairwise(found))),
    )
