"""Figure 15: rows that are lost before the join, by the size of its buffers."""

from __future__ import annotations

from itertools import product

import numpy as np

from experiments.charts import grid
from experiments.grubjoin.loop import STEP_S, Machine
from experiments.grubjoin.runs import whole
from experiments.grubjoin.streams import Scene
from experiments.part import Claim, Part, Point, Session, values, verdict

RATES = (100, 150, 200, 250)
BUFFERS = {"10 rows": 0.0, "1 s": 1.0, "2 s": 2.0}
RESET_S, COUNTED_S, SEEDS = 80, 20, 2
PANELS = {"buffers as they are": False, "buffers emptied": True}
DROPPED = "rows dropped (%)"
STYLES = {
    "10 rows": {"color": "#c8553d", "marker": "^"},
    "1 s": {"color": "#b99a3e", "marker": "D"},
    "2 s": {"color": "#1f6f8b", "marker": "o"},
}


def measure(session: Session) -> list[Part]:
    rates = (200,) if session.quick else RATES
    seeds, reset = (1, 30) if session.quick else (SEEDS, RESET_S)
    capacity = whole(Scene(rate=100)).looked
    points: list[Point] = []
    cases = list(product(PANELS, rates, BUFFERS))
    for panel, rate, name in session.each(cases, "figure 15"):
        room = max(10, round(rate * BUFFERS[name]))
        lost = [
            _dropped(
                Machine(
                    Scene(rate=rate),
                    capacity,
                    reset + COUNTED_S,
                    room=room,
                    reset=reset,
                    empties=PANELS[panel],
                    seed=seed,
                )
            )
            for seed in range(1, seeds + 1)
        ]
        points.append(Point(panel, name, rate, DROPPED, float(np.mean(lost))))
    part = Part(
        "figure_15_buffers",
        "Figure 15: rows dropped after the throttle was opened, by buffer",
        "rows per second",
        points,
    )
    part.claims = [_saved(points)]
    part.figure = grid(
        points,
        styles=STYLES,
        x="rows per second of each stream",
        labels={DROPPED: "rows dropped (%)"},
    )
    return [part]


def _dropped(machine: Machine) -> float:
    """Percent of the rows after the throttle was opened."""
    lost = sum(machine.run().dropped[round(machine.reset / STEP_S) :])
    return 100 * lost / (machine.scene.streams * machine.scene.rate * COUNTED_S)


def _saved(points: list[Point]) -> Claim:
    cuts = {}
    for panel in PANELS:
        none, one, two = (
            values(points, panel=panel, series=name, x=200)[0] for name in BUFFERS
        )
        cuts[panel] = [100 * (1 - some / none) if none else 0.0 for some in (one, two)]
    return Claim(
        "Figure 15",
        "around 200 rows per second, buffers of 1 s cut drops by 30 %, of 2 s by 50 %",
        "; ".join(
            f"{panel}: by {one:.0f} % and {two:.0f} %"
            for panel, (one, two) in cuts.items()
        ),
        verdict(*(15 <= one <= 45 and 35 <= two <= 65 for one, two in cuts.values())),
        "The paper does not say what is in the buffers when the throttle is opened. A "
        "throttle that opens until the join falls behind leaves rows in them.",
    )
