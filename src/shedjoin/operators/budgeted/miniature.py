"""Runs the miniature beside a join with a budget, and uses its estimates.

The miniature simulates the join on a sample of its rows, with several budgets. See
``shedjoin.models.miniature``.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np

from shedjoin.kernels.round import RETAIN, Arriving
from shedjoin.models.miniature import NO_BUDGET, Arrived, Miniature, Now
from shedjoin.models.recall_curve import FACTORS
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.verbs import Verbs
from shedjoin.policies.residents import Residents
from shedjoin.spec.recall import ESTIMATED
from shedjoin.spec.report import OTHER_BUDGETS, Report
from shedjoin.types import IntArray

_UNTOLD = 2
"""Number of windows after which the recall curve is complete. Before, it still contains
the first window, in which arrivals had fewer residents to match."""


def has_miniature(store: BudgetedStore) -> bool:
    """Whether the miniature can compute which rows another budget would hold.

    This is impossible while a throttle is active: the throttle drops rows and results,
    and the miniature does not account for this.
    """
    shedding = store.shedding
    limits = shedding.budget.limits_memory and not shedding.throttle.active
    return limits and shedding.is_foreseen and not store.through.relates


def begin_with_part(store: BudgetedStore) -> None:
    """Begin a micro-batch; use the part of the budget that the wanted recall needs.

    In the first window, there are fewer results to find than later. The recall curve
    forgets these results during the second window. Until the end of the second window,
    the part does not change. At the start of a query, it is the whole budget.
    """
    small, shedding = store.models.miniature, store.shedding
    clock = store.models.clock_us
    if small is None:
        return
    if not has_miniature(store):
        small.begin(NO_BUDGET, clock)
        store.sharing.part = 1.0
        return
    recall, part = shedding.budget.recall, 1.0
    # The repr of a policy may differ from process to process, so its name is used.
    rules = f"{type(shedding.policy).__name__} {shedding.budget!r}"
    small.begin(1 + crc32(rules.encode()), clock)
    if recall is not None and clock:
        first = clock - store.models.yields.passed_us(clock)
        known = small.has_seen(_UNTOLD, first, clock)
        part = small.curve.factor_for(recall) if known else small.curve.in_force
    small.curve.in_force = store.sharing.part = part


def with_other_budgets(store: BudgetedStore, report: Report) -> Report:
    """Add the results expected with other budgets to a report, if they are known."""
    small = store.models.miniature
    if small is None or not has_miniature(store) or report.recall_code > ESTIMATED:
        return report
    if not small.is_known:
        return report
    exact = report.measured + report.missed
    small.curve.measure(report.measured, max(exact, 0.0))
    least = float(FACTORS[0]) / small.curve.in_force
    factors = [each * small.curve.in_force for each in OTHER_BUDGETS]
    expected = (exact * small.curve.recalls(factors)).tolist()
    named = dict(zip(OTHER_BUDGETS.values(), expected, strict=True))
    named |= {"expected_of": exact, "expected_from": least}
    return replace(report, **named)


class InMiniature:
    """Passes the arrivals of a micro-batch to the miniature, block by block.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    verbs : Verbs
        Calls the policy.
    """

    def __init__(self, store: BudgetedStore, verbs: Verbs) -> None:
        self._store = store
        self._verbs = verbs
        self._is_known = has_miniature(store)

    def observe(self, came: Arriving, fade: float) -> None:
        """Pass on arrivals with their scores; first multiply earlier sums by ``fade``.

        A large block is passed on in parts. After a part, sampled rows are evicted if
        this is due.
        """
        small = self._store.models.miniature
        if small is None or not self._is_known:
            return
        small.curve.fade(fade)
        rows = Arrived(
            *(came.stream, came.key, came.time),
            came.first_number + np.arange(came.key.size),
            *(came.size, came.importance, came.score),
            came.does & RETAIN > 0,
        )
        clock, start = self._store.table.clock_us, 0
        for end in small.ends(came.time):
            part = rows.select(slice(start, end))
            reached = min(clock, int(part.time[-1]))
            small.observe(part, self._expired_us(), pooled=self._store.pooled)
            if small.is_due(reached):
                self._let_go(small, reached)
            start = end

    def limit(self) -> None:
        """Evict sampled rows now, because the share of the shard has changed."""
        small = self._store.models.miniature
        if small is not None and self._is_known:
            self._let_go(small, self._store.table.clock_us)

    def _let_go(self, small: Miniature, clock_us: int) -> None:
        rows, shedding = small.rows, self._store.shedding
        score = rows.score
        if shedding.policy.dynamic and score.size and small.is_stale(clock_us):
            shown = Residents(
                *(*rows[:4], rows.importance, rows.size),
                now_us=clock_us,
                keep_us=self._store.spec.keeps_us,
            )
            score = self._verbs.scores(shown)
        room, pooled = self._store.other_rooms, self._store.pooled
        now = Now(clock_us, self._expired_us())
        small.let_go(score, room, now, shedding.tie, pooled=pooled)

    def _expired_us(self) -> IntArray:
        spec, reached = self._store.spec, self._store.watermark_ms
        return np.array([spec.expired_us(own, reached) for own in (0, 1)])
