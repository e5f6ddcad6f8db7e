"""Section 7: memory of basic windows that no direction selects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.grubjoin.loads import drawn
from experiments.grubjoin.rates import STREAMS
from experiments.grubjoin.runs import WINDOW_S, run
from experiments.grubjoin.streams import Scene
from experiments.part import Claim, Part, Point, Session, values, verdict
from shedjoin.lab.plan import HarvestLoad, greedy_harvest, kept_windows
from shedjoin.operators.multiway.lags import HALF
from shedjoin.plan import Harvest as Planned
from shedjoin.policies import Harvest
from shedjoin.types import FloatArray

SHARES = (0.1, 0.25, 0.5, 0.75)
RUNS, SEED = 500, 7
SECONDS, COUNTED = 90, 60
PLANNED = {"planned, flat lags": True, "planned, normal lags": False}
DROPPED = "rows that could be dropped (%)"
MISSED = "selected rows that would then be missing (%)"
REOPENED = "recall at the moment when the throttle opens"


def measure(session: Session) -> list[Part]:
    points = [
        point for share in SHARES for point in _planned(share, quick=session.quick)
    ]
    cases = [(name, share) for name in STREAMS for share in SHARES]
    for name, share in session.each(cases, "section 7"):
        points += _joined(name, share, quick=session.quick)
    part = Part(
        "section_7_memory",
        "Section 7: memory of basic windows that no direction selects",
        "z",
        points,
    )
    part.claims = [_saved(part), _missed(part), _opened(part)]
    return [part]


def _planned(share: float, *, quick: bool) -> list[Point]:
    """Joins as in figure 7, in the model of the paper."""
    points = []
    for panel, flat in PLANNED.items():
        rng = np.random.default_rng(SEED)
        saved, left = [], []
        for _ in range(20 if quick else RUNS):
            load = drawn(rng, flat=flat)
            kept = kept_windows(load, greedy_harvest(share * load.work, load))
            rows = np.array(load.rates) * np.array(load.windows)
            parts = np.array(kept) / len(load.directions[0].ranked[0])
            saved.append(100 * (1 - float(rows @ parts / rows.sum())))
            left.append(reopened(load, kept))
        points.append(Point("", panel, share, DROPPED, float(np.mean(saved))))
        points.append(Point("", panel, share, REOPENED, float(np.mean(left))))
    return points


def reopened(load: HarvestLoad, kept: tuple[int, ...]) -> float:
    """Recall of a join that does all its work, but has only these basic windows."""
    results = 0.0
    for i, direction in enumerate(load.directions):
        found = direction.predicted(direction.whole).results
        for stream in load.orders[i] if found else ():
            scores = np.asarray(load.scores[i][stream])
            found *= float(scores[: kept[stream]].sum() / scores.sum())
        results += found
    return results / load.results


@dataclass(frozen=True)
class Noted(Harvest):
    """``Harvest`` that notes how old the rows are that it selects, in seconds."""

    def harvest(self, work: float, load: HarvestLoad) -> Planned:
        found = super().harvest(work, load)
        # The first half of the lags are those of residents younger than the arrival.
        ages = np.maximum(0, np.array(kept_windows(load, found)) - HALF)
        SELECTED.append(ages * WINDOW_S / HALF)
        return found


SELECTED: list[FloatArray] = []
"""Ages of a run, by micro-batch: policies have no state of their own."""


def remaining(selected: FloatArray) -> FloatArray:
    """Ages that are in memory if all that is not selected is dropped every second."""
    kept = np.empty_like(selected)
    before = np.full(selected.shape[1], float(WINDOW_S))
    for second, ages in enumerate(selected):
        before = kept[second] = np.minimum(before + 1, ages)
    return kept


def _joined(name: str, share: float, *, quick: bool) -> list[Point]:
    """The streams of figure 11 at 200 rows per second, in micro-batches of a second."""
    SELECTED.clear()
    seconds, counted = (30, 5) if quick else (SECONDS, COUNTED)
    throttle = {"share": share, "update": 1.0, "match": 0.0}
    run(Scene(lags=STREAMS[name]), Noted(), throttle, 1, seconds)
    selected = np.array(SELECTED)
    kept, selected = remaining(selected)[-counted:], selected[-counted:]
    missing = 100 * (1 - kept.sum() / selected.sum())
    panel = f"measured, {name}"
    return [
        Point("", panel, share, DROPPED, 100 * (1 - float(kept.mean()) / WINDOW_S)),
        Point("", panel, share, MISSED, float(missing)),
    ]


def _each(part: Part, measure: str) -> tuple[str, list[float]]:
    series = dict.fromkeys(
        point.series for point in part.points if point.measure == measure
    )
    found = {name: values(part.points, series=name, measure=measure) for name in series}
    digits = 2 if measure == REOPENED else 0
    told = "; ".join(
        f"{name} {', '.join(f'{one:.{digits}f}' for one in some)}"
        for name, some in found.items()
    )
    at = ", ".join(f"{share:g}" for share in SHARES)
    return f"at z of {at}: {told}", [one for some in found.values() for one in some]


def _saved(part: Part) -> Claim:
    told, found = _each(part, DROPPED)
    return Claim(
        "section 7",
        "basic windows that no direction selects, nor any older one, can be dropped to "
        "save memory",
        f"percent of the rows, {told}",
        verdict(max(found) > 10, min(found) > 10),
        "Not done by the operator: see the two rows below.",
    )


def _missed(part: Part) -> Claim:
    told, found = _each(part, MISSED)
    return Claim(
        "not in the paper",
        "what is selected later is still in memory",
        f"percent of the selected rows that are missing, {told}",
        verdict(max(found) < 1),
        "Selections change with what is learned and with the work that is left. All "
        "rows were in memory in these runs. Without the old ones it could not be "
        "learned that older rows match than those that are selected.",
    )


def _opened(part: Part) -> Claim:
    told, found = _each(part, REOPENED)
    return Claim(
        "not in the paper",
        "a throttle that opens again finds all results",
        f"recall at the moment when it opens, {told}",
        verdict(min(found) > 0.99),
        "It rises to 1 within a window. With all rows in memory it is 1 at once.",
    )
