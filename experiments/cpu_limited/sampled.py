"""The random sample goal: the fraction that the CPU allows, and the sample itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.cpu_limited.correlations import VALUES
from experiments.cpu_limited.runs import SETTLE_WINDOWS, Setting, table
from experiments.part import Claim, Part, Point, Session, find, values, verdict
from shedjoin import Budget, Within, local
from shedjoin.lab.plan import (
    Costs,
    FrequencyModel,
    admitted,
    sampled_work,
    work_fraction,
)
from shedjoin.policies import Policy, Uniform
from shedjoin.types import FloatArray

RATE, WINDOW_S = 100.0, 10.0
USUAL, CONSERVATIVE = "p of equation 25", "p of equation 23"
PANELS = ("DC, Z = 1", "IC, Z = 1", "IC, Z = 1, cheap updates", "uniform")
FRACTIONS = {
    "DC, Z = 1": (0.001517, 0.049870),
    "IC, Z = 1": (0.145602, 0.333379),
    "IC, Z = 1, cheap updates": (0.587707, 0.917839),
    "uniform": (0.034879, 0.126655),
}
SAMPLED = "part of the results that is sampled"
STORED = "rows stored per second"
WORK = "work per second"
COUNT = "estimated results over the results"


class Sampled(NamedTuple):
    """Results and stored rows per second, and the number of results by the weights."""

    results: float
    stored: float
    estimated: float


def measure(session: Session) -> list[Part]:
    windows = 12 if session.quick else 60
    points = []
    for panel in session.each(PANELS, "section_4_sample"):
        one, costs = setting(panel), _costs(panel)
        models = both_windows(one)
        whole = run(one, None, windows=windows, seed=5)
        for name, told in zip((CONSERVATIVE, USUAL), FRACTIONS[panel], strict=True):
            conservative = name == CONSERVATIVE
            p = work_fraction(1, *models, costs=costs, conservative=conservative)
            found = run(one, Uniform(fraction=p), windows=windows, seed=5)
            stored = sum(admitted(p, model) for model in models)
            work = found.stored * costs.update + found.results * costs.match
            points += [
                Point(panel, name, "planned", SAMPLED, p, "", told),
                Point(panel, name, "operator", SAMPLED, found.results / whole.results),
                Point(panel, name, "planned", STORED, stored),
                Point(panel, name, "operator", STORED, found.stored),
                Point(
                    *(panel, name, "planned", WORK),
                    sampled_work(p, *models, costs=costs),
                ),
                Point(panel, name, "operator", WORK, work),
                Point(
                    *(panel, name, "operator", COUNT), found.estimated / whole.results
                ),
            ]
    part = Part("section_4_sample", "The random sample goal (section 4)", "of", points)
    part.claims = [_work(part), _conservative(part), _unbiased(part)]
    return [part]


def setting(panel: str) -> Setting:
    """Two streams of 100 rows per second and windows of 10 s."""
    left: FloatArray = np.arange(1.0, VALUES + 1) ** -float(panel != "uniform")
    left *= RATE / left.sum()
    right = left[::-1] if panel.startswith("IC") else left
    return Setting(left, right, WINDOW_S, WINDOW_S, _costs(panel))


def both_windows(one: Setting) -> tuple[FrequencyModel, FrequencyModel]:
    """The windows of both streams as frequency models."""
    left, right = one.left / RATE, one.right / RATE
    return (
        FrequencyModel(left, right, one.left_window, RATE, RATE),
        FrequencyModel(right, left, one.right_window, RATE, RATE),
    )


def run(one: Setting, policy: Policy | None, *, windows: int, seed: int) -> Sampled:
    """Join two streams, all of it or a sample; no memory limit applies."""
    batches = [
        (
            table(one.left, WINDOW_S, number, seed),
            table(one.right, WINDOW_S, number, ~seed),
        )
        for number in range(windows)
    ]
    done = local.join(
        batches,
        on="value",
        within=Within(before="10 seconds", after="10 seconds"),
        time=("time", "time"),
        budget=Budget(rows=1_000_000),
        keep=policy,
    )
    counted = done.batches[SETTLE_WINDOWS:]
    seconds = WINDOW_S * len(counted)
    results = sum(batch.results.num_rows for batch in counted)
    estimated = results
    if policy is not None:
        weights = (batch.results.column("_weight").to_numpy() for batch in counted)
        estimated = sum(float(each.sum()) for each in weights)
    stored = sum(sum(batch.report.stored) for batch in counted)
    return Sampled(results / seconds, stored / seconds, estimated / seconds)


def _costs(panel: str) -> Costs:
    return Costs(0.001 if panel.endswith("cheap updates") else 0.004, 0.0005)


def _work(part: Part) -> Claim:
    found = values(part.points, series=USUAL, x="operator", measure=WORK)
    return Claim(
        "Equation 25",
        "if producing dominates probing, the work is that of the rows that are stored "
        "and of the results that are sampled",
        f"{min(found):.2f} to {max(found):.2f} of the budget by the operator",
        verdict(*(0.9 <= each <= 1.05 for each in found)),
        "Less where rows have few expected matches: fewer results are then sampled.",
    )


def _conservative(part: Part) -> Claim:
    planned = find(part.points, x="planned", measure=SAMPLED)
    lows, highs = (values(planned, series=name) for name in (CONSERVATIVE, USUAL))
    pairs = list(zip(lows, highs, strict=True))
    told = ", ".join(f"{low:.4f} against {high:.4f}" for low, high in pairs)
    return Claim(
        "Equation 23",
        "it is conservative: matches that are not sampled count in full",
        f"p of equation 23 against that of equation 25: {told}",
        verdict(*(low < high for low, high in pairs)),
    )


def _unbiased(part: Part) -> Claim:
    found = values(part.points, measure=COUNT)
    return Claim(
        "section 4.1",
        "a uniform random sample of the join",
        f"counts estimated from it are {min(found):.2f} to {max(found):.2f} of the "
        "true ones",
        verdict(*(abs(each - 1) <= 0.05 for each in found)),
        "Arrivals are Poisson: a row may have more matches than coins, and matches "
        "after the last coin are never sampled. The fewer matches a row has, the more "
        "of them are missing.",
    )
