"""Counts the partners of all rows, then scores residents and arrivals together.

The partners of a row are the rows of the other stream that it could be matched with
now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shedjoin.kernels.partners import (
    Rows,
    count_among,
    count_residents,
    sorted_rows,
)
from shedjoin.kernels.round import Arriving, Rules
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.through import LOOKS
from shedjoin.operators.budgeted.verbs import Verbs
from shedjoin.policies.residents import Around, Residents
from shedjoin.types import FloatArray


class Partners:
    """Scores all rows before a block of arrivals, for a policy that reads partners.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    rules : Rules
        Rules of the join, as kernels need them.
    verbs : Verbs
        Calls the policy.
    """

    def __init__(self, store: BudgetedStore, rules: Rules, verbs: Verbs) -> None:
        self._store = store
        self._rules = rules
        self._verbs = verbs

    def scored(self, arriving: Arriving, now_us: int) -> Arriving:
        """Score residents in place; return the arrivals of a block with scores.

        Partners are counted among the present residents and the arrivals of the block.
        """
        table, stored = self._store.table, self._store.spec.keeps_us
        alive = table.alive()
        residents = table.residents(alive, stored, None)
        there = alive.size
        rows = _together(residents, arriving, now_us)
        around = self._around(rows, arriving, there, table.table.score[alive])
        score = self._verbs.scores(replace(rows, around=around))
        table.rescore(alive, score[:there])
        self._store.scored_us = now_us
        return arriving._replace(score=score[there:])

    def _around(
        self, rows: Residents, arriving: Arriving, there: int, score: FloatArray
    ) -> Around:
        key, time = rows.key, rows.time
        residents, produced = np.empty(key.size), np.empty(key.size)
        table, now_us, rules = self._store.table.table, rows.now_us, self._rules
        others = sorted_rows(arriving.stream, arriving.key, arriving.time)
        for part in self._parts(key.size):
            own = rows.stream[part], key[part], time[part]
            seen = Rows(*own, self._store.through.looks(*own))
            count_residents(seen, rules, now_us, table, residents[part])
            count_among(seen, rules, now_us, others, produced[part])
        last_score = np.full(key.size, np.nan)
        last_score[:there] = score
        scored_us = self._store.scored_us
        waited = now_us - np.maximum(time, now_us if scored_us is None else scored_us)
        waited[there:] = 0
        return Around(residents + produced, produced, last_score, waited.clip(0))

    def _parts(self, rows: int) -> Iterator[slice]:
        """Cut rows into parts, so that about ``LOOKS`` looks are in memory at once."""
        step = max(1, LOOKS // self._store.through.most)
        return (slice(start, start + step) for start in range(0, rows, step))


def _together(residents: Residents, arriving: Arriving, now_us: int) -> Residents:
    """Residents, followed by the arrivals as residents of age zero."""
    number = arriving.first_number + np.arange(arriving.key.size)
    return replace(
        residents,
        stream=np.concatenate([residents.stream, arriving.stream]),
        key=np.concatenate([residents.key, arriving.key]),
        time=np.concatenate([residents.time, arriving.time]),
        number=np.concatenate([residents.number, number]),
        importance=np.concatenate([residents.importance, arriving.importance]),
        size=np.concatenate([residents.size, arriving.size]),
        now_us=now_us,
    )
