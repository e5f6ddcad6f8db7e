"""Figure 12: results against how much the values of a stream deviate."""

from __future__ import annotations

from experiments.charts import grid
from experiments.grubjoin.runs import (
    LABELS,
    RATE,
    STYLES,
    compared,
    gains,
    percents,
    whole,
)
from experiments.grubjoin.streams import KAPPA, Scene
from experiments.part import Claim, Part, Point, Session, values, verdict

KAPPAS = (10, 25, 50, 75, 100, 200)
ONE, ALL = "third stream deviates", "all streams deviate"
PUBLISHED = {25: 250.0, 50: 150.0, 75: 25.0}
KNOWN = {25: 708.0, 50: 710.0, 75: 679.0, 200: 508.0}
"""Gains of the best harvest over equal drop rates, with all lags known."""


def measure(session: Session) -> list[Part]:
    kappas = (25, 200) if session.quick else KAPPAS
    budget = whole(Scene(rate=100)).looked
    points: list[Point] = []
    cases = [(panel, kappa) for panel in (ONE, ALL) for kappa in kappas]
    for panel, kappa in session.each(cases, "figure 12"):
        own = (*KAPPA[:2], float(kappa)) if panel == ONE else (float(kappa),) * 3
        points += compared(
            (panel, kappa),
            Scene(kappa=own),
            budget,
            quick=session.quick,
            published=PUBLISHED.get(kappa, "") if panel == ONE else "",
            reference=KNOWN.get(kappa, "") if panel == ONE else "",
        )
    part = Part(
        "figure_12_deviations",
        "Figure 12: results by deviation (200 rows per second, non-aligned)",
        "kappa",
        points,
    )
    part.claims = [_falls(points), _close(points), _bimodal(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="deviation kappa",
        labels=LABELS,
        published={"GrubJoin": "gain, published"},
    )
    return [part]


def _falls(points: list[Point]) -> Claim:
    found = {x: gain for x, gain in gains(points, ONE).items() if x in PUBLISHED}
    return Claim(
        "Figure 12",
        "GrubJoin yields 250 % more at kappa 25, 150 % at 50 and 25 % at 75",
        percents(found),
        verdict(
            all(gain > 0 for gain in found.values()),
            all(0.5 < gain / PUBLISHED[int(x)] < 2 for x, gain in found.items()),
        ),
        "Far more, and hardly less at 75: the first two streams stay correlated.",
    )


def _close(points: list[Point]) -> Claim:
    one, every = (list(gains(points, panel).values())[-1] for panel in (ONE, ALL))
    return Claim(
        "Figure 12",
        "both are very close when correlations are almost removed",
        f"{every:+.0f} % if all streams deviate by {KAPPAS[-1]}; {one:+.0f} % if the "
        "third one alone does",
        verdict(abs(every) < 25, abs(one) < 25),
        "With the third stream random, the first two still tell where to look.",
    )


def _bimodal(points: list[Point]) -> Claim:
    found = values(points, panel=ONE, series="RandomDrop", measure=RATE)
    told = ", ".join(
        f"{one:.0f} at {kappa}" for one, kappa in zip(found, KAPPAS, strict=False)
    )
    inner = found[1:-1]
    return Claim(
        "Figure 12",
        "results of RandomDrop have two peaks over kappa",
        f"results per second: {told}",
        verdict(
            bool(inner)
            and min(inner) < 0.95 * found[0]
            and found[-1] > 1.05 * min(inner)
        ),
    )
