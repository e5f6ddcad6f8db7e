"""Learned, not given: policies that learn against the same policies told the truth.

*Frequencies*: Zipf(1) keys whose hot ranking drifts; ``Prob`` with its learned counts
against ``Prob`` told the true frequencies of the moment. *Ages*: the INC, DEC and BELL
curves of Srivastava and Widom; ``Age`` with its learned curve against ``Age`` told the
true one. Every figure is the recall of the first over that of the second, mean over
seeds; both see the same streams at the same budget. Learning starts from nothing: the
recall counts from the first row on. Figures that end in ``_later`` leave out what was
found in the first window of time, in which nothing can know what old rows are worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import mean
from typing import ClassVar

import numpy as np
import pyarrow as pa

from benchmarks.console import progress
from benchmarks.record import Record
from shedjoin import Budget, Within
from shedjoin.lab.workloads.workloads import Curve, Frequencies, age_curve, aged, zipf
from shedjoin.local.join import join
from shedjoin.local.streams import START_US
from shedjoin.models.curve import priorities
from shedjoin.policies import Age, Policy, Prob, Residents
from shedjoin.types import FloatArray

TIMES = ("left_time", "right_time")
WINDOW_S = 500
SECONDS = 4000
FINER = 50
PARTS = (0.05, 0.1, 0.25)
CURVES: tuple[Curve, ...] = ("INC", "DEC", "BELL")
Batches = list[tuple[pa.Table, pa.Table]]


@dataclass(frozen=True, slots=True)
class TrueProb(Policy):
    """Prob, told the true frequencies of the moment."""

    truth: Frequencies

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        found = np.empty(residents.key.size)
        for side in (0, 1):
            rows = residents.stream == side
            epoch = self.truth.epoch(residents.now_us)
            found[rows] = _frequencies(self.truth, epoch)[residents.key[rows]]
        return found


@lru_cache(maxsize=4)
def _frequencies(truth: Frequencies, epoch: int) -> FloatArray:
    """Both streams have the same."""
    return truth.at(0, START_US + epoch * truth.drift_s * 1_000_000)


@dataclass(frozen=True, slots=True)
class TrueAge(Policy):
    """Age, told the true curve; right rows bring nothing."""

    curve: Curve

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        best = priorities(np.repeat(age_curve(self.curve), FINER))
        place = residents.age_us * best.size // residents.keep_us[0]
        worth = best[np.minimum(place, best.size - 1)]
        return np.where(residents.stream == 0, worth, -1.0)


def run(*, quick: bool) -> Record:
    seeds = range(1) if quick else range(2)
    rows = 6_000 if quick else 60_000
    parts = PARTS[1:2] if quick else PARTS
    recalls: dict[str, list[float]] = {}
    with progress() as display:
        task = display.add_task("learning", total=len(parts) * 4 * len(seeds))
        for seed in seeds:
            for name, batches, within, pair in _cases(seed, rows):
                exact = _matched(batches, within, None, None)[0]
                full = _window_rows(batches, within)
                for part in parts:
                    budget = Budget(rows=int(part * full))
                    learned, told = (
                        _matched(batches, within, budget, one) for one in pair
                    )
                    key = f"{name}_{int(100 * part)}"
                    told_all, told_later = told
                    recalls.setdefault(key, []).append(learned[0] / told_all)
                    later = learned[1] / told_later if told_later else 1.0
                    recalls.setdefault(f"{key}_later", []).append(later)
                    recalls.setdefault(f"{key}_learned", []).append(learned[0] / exact)
                    display.advance(task)
    figures = {name: mean(values) for name, values in recalls.items()}
    worst = {
        kind: min(
            value
            for name, value in figures.items()
            if name.startswith(kind) and not name.endswith(("learned", "later"))
        )
        for kind in ("zipf", *CURVES)
    }
    figures = {f"{kind}_ratio": value for kind, value in worst.items()} | figures
    sizes = {"rows": rows, "window_s": WINDOW_S, "budgets": parts, "seed": len(seeds)}
    return Record("learning", sizes, figures)


Case = tuple[str, Batches, Within, tuple[Policy, Policy]]


def _cases(seed: int, rows: int) -> list[Case]:
    truth = Frequencies(keys=2000, z=1.0, drift_s=250, drift_part=0.1)
    both = Within(before=f"{WINDOW_S} seconds", after=f"{WINDOW_S} seconds")
    streams = zipf(truth, rows=rows, seconds=SECONDS, batches=80, seed=seed)
    cases: list[Case] = [("zipf", list(streams), both, (Prob(), TrueProb(truth)))]
    after = Within(after=f"{WINDOW_S} seconds")
    for curve in CURVES:
        streams = aged(
            curve=curve,
            rate=rows / 6 / SECONDS,
            seconds=SECONDS,
            batches=80,
            seed=seed,
            window_s=WINDOW_S,
        )
        cases.append((curve, list(streams), after, (Age(), TrueAge(curve))))
    return cases


def _matched(
    batches: Batches, within: Within, budget: Budget | None, keep: Policy | None
) -> tuple[int, int]:
    """Results of all micro-batches, and of those after the first window."""
    run = join(batches, on="key", within=within, time=TIMES, budget=budget, keep=keep)
    first = len(batches) * WINDOW_S // SECONDS
    matched = [one.report.matched for one in run.batches]
    return sum(matched), sum(matched[first:])


def _window_rows(batches: Batches, within: Within) -> float:
    """Residents of the exact join, on average over the later half."""
    run = join(batches, on="key", within=within, time=TIMES)
    counts = [sum(one.report.resident) for one in run.batches]
    return mean(counts[len(counts) // 2 :])
