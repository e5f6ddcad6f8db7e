"""Examples 3.3 and 3.4: who is held, and how many results each step brings."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.charts import FONT
from experiments.memory_limited.runs import (
    EVERY_SHED,
    LeftRecent,
    TrueAge,
    result_times,
    run,
)
from experiments.memory_limited.streams import SECOND_US, exactly_aged
from experiments.part import Claim, Part, Point, Session, Value, find, verdict
from experiments.watch import Log, watched
from shedjoin.lab.plan import AgeModel, has_minima, k_opt
from shedjoin.local.streams import START_US
from shedjoin.policies import Policy, Residents

SMOOTH, DIPPING = (1, 1, 2, 1), (3, 0, 2)
SHOWN = range(1, 9)
STEPS, CYCLE = 120, 12
"""Long runs count the last 12 steps, a multiple of all periods that occur."""


class Example(NamedTuple):
    """Holds and results of the paper's tables; the third is with other equals."""

    name: str
    curve: tuple[int, ...]
    memory: int
    held: str = ""
    results: str = ""
    reference: str = ""


EXAMPLES = (
    Example(
        "Ex. 3.3, M=1", SMOOTH, 1, "1 1 1 4 4 4 7 7", "1 1 2 1 1 2 1", "1 1 2 1 1 2 1 1"
    ),
    Example(
        "Ex. 3.3, M=2",
        SMOOTH,
        2,
        "1 1,2 1,2 2,4 4,5 4,5 5,7 7,8",
        "",
        "1 2 3 3 2 3 3 2",
    ),
    Example(
        "Ex. 3.4, M=2",
        DIPPING,
        2,
        "1 1,2 1,3 3,4 3,5 5,6 5,7 7,8",
        "3 3 5 3 5 3 5",
        "3 3 5 3 5 3 5 3",
    ),
)
Rates = dict[tuple[tuple[int, ...], int], tuple[Value, float]]
RATES: Rates = {  # curve and memory: results per step, published and by equation 2
    (SMOOTH, 1): (4 / 3, 4 / 3),
    (SMOOTH, 2): ("", 8 / 3),
    (SMOOTH, 3): ("", 4),
    (SMOOTH, 4): ("", 5),
    (DIPPING, 2): (4, 4),
}


def measure(session: Session) -> list[Part]:
    points: list[Point] = []
    for example in session.each(EXAMPLES, "examples 3.3 and 3.4"):
        points += _steps(example)
    part = Part(
        "examples_3_3_and_3_4",
        "Examples 3.3 and 3.4: step by step",
        "time",
        points,
        figure=_picture(points),
    )
    for example in EXAMPLES:
        mine = find(points, panel=example.name)
        same = [point.measured == point.reference for point in mine]
        text = f"{sum(same)} of {len(same)} holds and results"
        claim = Claim(example.name, "the table of steps", text, verdict(*same))
        part.claims.append(claim)
    return [part, _rates()]


def _steps(example: Example) -> list[Point]:
    log = Log()
    stream = exactly_aged(example.curve, steps=len(SHOWN) + 1)
    policy = watched(TrueAge.of(np.array(example.curve)), log)
    found = run(
        stream,
        policy,
        example.memory,
        window=len(example.curve),
        recompute=EVERY_SHED,
    )
    given = np.bincount(result_times(found).astype(int), minlength=len(SHOWN) + 2)
    held, results = example.held.split(), example.results.split()
    kept = _held(log.seen)
    points = []
    for n, step in enumerate(SHOWN):
        printed = held[n] if step < SHOWN[-1] else ""  # the last column is "..."
        points.append(
            Point(example.name, "held", step, "", kept[step], printed, held[n])
        )
        stated = float(results[n]) if n < len(results) else ""
        known = float(example.reference.split()[n])
        got = float(given[step])
        points.append(Point(example.name, "results", step, "", got, stated, known))
    return sorted(points, key=lambda point: point.series)


def _held(log: list[Residents]) -> dict[int, str]:
    """Left rows held in each step: those that are seen when the next one comes.

    Until the policy is first asked, nobody has been shed.
    """
    held: dict[int, str] = {}
    for seen in log:
        came = np.sort((seen.time - START_US) // SECOND_US)
        for step in range(len(held) + 1, came[-1]):
            held[step] = ",".join(map(str, came[came <= step]))
    return held


def _rates() -> Part:
    points: list[Point] = []
    for (curve, memory), (stated, formula) in RATES.items():
        name = f"p = {curve}"
        age = _rate(curve, memory, TrueAge.of(np.array(curve)))
        recent = _rate(curve, memory, LeftRecent())
        planned = AgeModel(curve).results(memory)
        for series, got in (("AGE", age), ("equation 2", planned)):
            if series == "AGE" or not has_minima(curve):
                points.append(
                    Point(
                        name, series, memory, "results per step", got, stated, formula
                    )
                )
        known: Value = 3.0 if curve == DIPPING else ""
        column = "results per step"
        points.append(
            Point(name, "hold each M steps", memory, column, recent, known, known)
        )
    for memory, exact in ((4, 16 / 3), (7, 9.0), (8, 10.0)):
        got = AgeModel(SMOOTH, rate=2).results(memory)
        name = f"p = {SMOOTH}, two rows per step"
        points.append(
            Point(name, "equation 3", memory, "results per step", got, "", exact)
        )
    ages = f"{k_opt(SMOOTH)} and {k_opt(DIPPING)}"
    right = (k_opt(SMOOTH), k_opt(DIPPING)) == (3, 1)
    first = find(points, series="AGE", x=1)[0].measured
    dipping = find(points, panel=f"p = {DIPPING}")
    both = {point.series: float(point.measured) for point in dipping}
    claims = [
        Claim("Ex. 3.3, 3.4", "k_opt is 3 and 1", ages, verdict(right)),
        Claim(
            "Ex. 3.3",
            "M=1: 4 results every 3 steps, optimal",
            f"{first:.4f} per step",
            verdict(abs(float(first) - 4 / 3) < 1e-9),
        ),
        Claim(
            "Ex. 3.4",
            "priority rule: 4 results per step; holding each row M steps: 3",
            f"{both['AGE']:.3f} and {both['hold each M steps']:.3f}",
            verdict(both["AGE"] == 4, both["hold each M steps"] == 3),
        ),
    ]
    title = "Examples 3.3 and 3.4: results per step in the long run"
    return Part("examples_rates", title, "memory", points, claims)


def _rate(curve: tuple[int, ...], memory: int, policy: Policy) -> float:
    stream = exactly_aged(curve, steps=STEPS)
    found = run(stream, policy, memory, window=len(curve), recompute=EVERY_SHED)
    times = result_times(found)
    last = STEPS - len(curve)  # later rows have no successor that would displace them
    return float(((times >= last - CYCLE) & (times < last)).sum() / CYCLE)


def _picture(points: list[Point]) -> Figure:
    with plt.rc_context(FONT):
        figure, places = plt.subplots(1, 3, figsize=(15, 4.8), sharey=True)
        for axes, example in zip(places, EXAMPLES, strict=True):
            rows = find(points, panel=example.name, series="results")
            steps = [float(point.x) for point in rows]
            heights = [float(point.measured) for point in rows]
            axes.bar(steps, heights, color="#1f6f8b", label="measured")
            stated = [point for point in rows if point.published != ""]
            axes.plot(
                [float(point.x) for point in stated],
                [float(point.published) for point in stated],
                "kx",
                markersize=12,
                markeredgewidth=3,
                label="published",
            )
            axes.set_title(f"{example.name}, p = {example.curve}", fontsize=17)
            axes.set_xlabel("time step")
            axes.set_xticks(list(SHOWN))
            axes.spines[["top", "right"]].set_visible(False)
        places[0].set_ylabel("results in the step")
        places[0].legend(frameon=False)
        figure.tight_layout()
    return figure
