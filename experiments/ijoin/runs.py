"""One run of the operator as the paper has it, and what it measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from experiments.ijoin.streams import SECOND_US, TIMES, WORTHS, Streams, draw, tables
from experiments.watch import Log, watched
from shedjoin import Amortised, Budget, MostImportant, Options, Within
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy
from shedjoin.spec.recompute import Recompute

EVERY_SHED = Amortised(part=1e-9)
"""Scores anew at every shed. ``Successive()`` does the same, gives the same numbers and
takes longer, as the operator then takes every row on its own; only policies that use
what it learns (PROB) need that."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Table 5 in unit steps: memory in rows (0: no limit), window in seconds."""

    data: str = ""
    memory: int = 10
    window: int = 25
    domain: int = 100
    steps: int = 500


class Score(NamedTuple):
    """What the paper measures, and how often priorities were computed."""

    importance: float
    outputs: float
    fairness: float
    computed: float


MEASURES = Score._fields[:3]


def run(
    batches: Iterable[tuple[pa.Table, pa.Table]],
    policy: Policy,
    *,
    memory: int,
    window: int,
    recompute: Recompute = EVERY_SHED,
) -> Run:
    """Shed, then join; half of the memory each; ages below the window match."""
    open_end = timedelta(microseconds=window * SECOND_US - 1)
    return join(
        batches,
        on="key",
        within=Within(before=open_end, after=open_end),
        time=TIMES,
        budget=Budget(rows=2 * (memory // 2), split=0.5),
        keep=MostImportant(WORTHS, by=policy),
        options=Options(discipline="shed_then_join", recompute=recompute),
    )


def scored(
    streams: Streams,
    policy: Policy,
    *,
    memory: int,
    window: int,
    recompute: Recompute = EVERY_SHED,
) -> Score:
    """Run, and read the report.

    Fairness is Jain's index over the lifetimes of all rows: until they were shed,
    expired, or the run ended; 0 for those dropped on arrival. Who is there at the end
    is seen by the policy at one more instant, whose rows match nothing. Schemes that
    seldom compute scores may not look then; they leave out who is there.
    """
    log = Log(awake=False)
    end_s = float(streams.time_s.max()) + 1.0

    def batches() -> Iterator[tuple[pa.Table, pa.Table]]:
        yield from tables(streams)
        log.awake = True
        last = np.array([[-1], [-2]])
        yield from tables(Streams(last, np.ones((2, 1)), np.full((2, 1), end_s)))

    found = run(
        batches(),
        watched(policy, log),
        memory=memory,
        window=window,
        recompute=recompute,
    )
    report = found.batches[0].report
    there = log.seen[0].age_us[log.seen[0].age_us > 0] if log.seen else np.zeros(0)
    stayed = np.minimum(there / SECOND_US, window)
    left = sum(report.shed) + sum(report.expired)
    total = report.lifetimes + stayed.sum()
    squares = (left + stayed.size) * (report.lifetimes_squared + (stayed**2).sum())
    fairness = float(total**2 / squares) if squares else 1.0
    return Score(report.importance, report.matched, fairness, report.recomputed)


@cache
def measured(
    setting: Setting, policy: Policy, recompute: Recompute, seed: int
) -> Score:
    """Score of one run; the same run is not made twice."""
    streams = draw(setting.data, domain=setting.domain, steps=setting.steps, seed=seed)
    memory = setting.memory or 2 * setting.steps
    return scored(
        streams, policy, memory=memory, window=setting.window, recompute=recompute
    )


def mean(
    setting: Setting,
    policy: Policy,
    seeds: Sequence[int],
    recompute: Recompute = EVERY_SHED,
) -> Score:
    """Mean score over seeds."""
    scores = [measured(setting, policy, recompute, seed) for seed in seeds]
    return Score(*np.mean(scores, axis=0).tolist())
