"""Figure 13: the gain by the number of streams."""

from __future__ import annotations

from experiments.charts import grid
from experiments.grubjoin.runs import (
    LABELS,
    STYLES,
    compared,
    gains,
    percents,
    whole,
    work_range,
)
from experiments.grubjoin.streams import ALIGNED, LAGS, Scene
from experiments.part import Claim, Part, Point, Session, verdict

STREAMS = (3, 4, 5)
PANELS = {"aligned": ALIGNED, "non-aligned": LAGS}
ROWS = 100.0


def measure(session: Session) -> list[Part]:
    rate = 40.0 if session.quick else ROWS
    cases = [(panel, streams) for panel in PANELS for streams in STREAMS]
    points: list[Point] = []
    for panel, streams in session.each(cases, "figure 13"):
        lags = PANELS[panel]
        budget = whole(Scene(rate=rate, lags=lags)).looked
        points += compared(
            (panel, streams),
            Scene(streams=streams, rate=rate, lags=lags),
            budget,
            quick=session.quick,
        )
    part = Part(
        "figure_13_streams",
        f"Figure 13: results by the number of streams ({rate:.0f} rows per second)",
        "m",
        points,
    )
    part.claims = [_grows(points), _most(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="streams (m)",
        labels=LABELS,
    )
    return [part]


def _grows(points: list[Point]) -> Claim:
    found = {panel: gains(points, panel) for panel in PANELS}
    steps = [(each[4] - each[3], each[5] - each[4]) for each in found.values()]
    return Claim(
        "Figure 13",
        "the gain grows linearly with the number of streams",
        "; ".join(f"{panel}: {percents(each)}" for panel, each in found.items()),
        verdict(
            all(first > 0 and second > 0 for first, second in steps),
            all(0.5 < second / first < 2 for first, second in steps if first > 0),
        ),
        "The budget is all work with three streams, a seventh of it with four and a "
        "fiftieth with five. Of that GrubJoin and RandomDrop use, with four and five, "
        + "; ".join(
            f"{panel} {work_range(points, 'GrubJoin', panel, 4)} and "
            f"{work_range(points, 'RandomDrop', panel, 4)}"
            for panel in PANELS
        )
        + ".",
    )


def _most(points: list[Point]) -> Claim:
    aligned, lagged = (gains(points, panel) for panel in PANELS)
    return Claim(
        "Figure 13",
        "non-aligned streams gain more, up to 700 % with five",
        f"with five {lagged[5]:+.0f} % against {aligned[5]:+.0f} % of aligned ones",
        verdict(lagged[5] >= 700, lagged[5] > aligned[5]),
        "Lags and deviations of the fourth and fifth stream are not given.",
    )
