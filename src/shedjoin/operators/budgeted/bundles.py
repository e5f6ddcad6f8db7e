"""Builds the arguments of kernels that join a block: rules, and buffers for results."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.instants import INSTANT_ROWS
from shedjoin.kernels.round import (
    ALL_SETTLED,
    CURSOR,
    MARK,
    MATCH,
    REASONS,
    SUMS,
    VICTIM,
    Found,
    Rules,
)
from shedjoin.operators.budgeted.fill import NOTHING
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.frame import answers
from shedjoin.policies.base import SamplingPolicy
from shedjoin.spec.shedding import Shedding
from shedjoin.types import Record, Records

ROOM_FOR = 1 << 17


def rules_of(store: BudgetedStore, shedding: Shedding) -> Rules:
    """Rules of a join for the kernels; ``valued`` is set later."""
    policy, pace = shedding.policy, answers.pace(shedding.policy)
    discipline = shedding.discipline
    sheds_last = discipline == "probe_then_shed"
    sample = policy if isinstance(policy, SamplingPolicy) else None
    return Rules(
        keep=store.spec.keeps_us,
        capacity=store.capacity,
        pooled=int(store.pooled),
        tie=shedding.tie,
        maturity=pace.maturity_us,
        decay=pace.match_decay,
        counts_instant_first=int(pace.counts_instant_first and not sheds_last),
        combine=shedding.combine_code,
        valued=0,
        thins=int(sample is not None and sample.thins),
        tosses=int(sample is not None and sample.tosses),
        weighs=int(sample is not None),
        seed=shedding.coin_seed,
        window=store.spec.window_us,
        related=int(store.through.relates),
        all_probe=int(discipline in {"shed_then_probe", "probe_then_shed"}),
        sheds_last=int(sheds_last),
    )


class Room:
    """Buffers for the matches of a block, and counts of the whole micro-batch.

    Parameters
    ----------
    rules : Rules
        Rules of the join, as kernels need them.
    lags : array
        Delays of arrivals behind the clock, which kernels keep up to date.
    """

    def __init__(self, rules: Rules, lags: Records) -> None:
        self._lags = lags
        self._streams = len(rules.keep)
        self._weighs = rules.weighs
        self._matches = ROOM_FOR
        self._cursor = np.zeros(1, CURSOR)
        self._sums = np.zeros(1, SUMS)
        self._victims, self._left = np.empty(0, VICTIM), NOTHING
        self.tally = np.zeros((REASONS, self._streams), np.int64)

    @property
    def sums(self) -> Record:
        """Sums over the micro-batch so far, by the names of ``SUMS``."""
        return self._sums[0]

    def empty(self, rows: int, first_number: int) -> Found:
        """Empty buffers for a block of ``rows`` arrivals.

        ``first_number`` is the number of the first arrival.
        """
        self._cursor[:] = 0
        self._cursor["block_start"] = first_number
        self._cursor["settled"] = ALL_SETTLED
        return Found(
            matches=np.empty(self._matches, MATCH),
            marks=np.empty(self._matches * self._weighs, MARK),
            cursor=self._cursor,
            tally=self.tally,
            sums=self._sums,
            instant_slots=np.zeros(INSTANT_ROWS, np.int64),
            victims=self._victims,
            left=self._left,
            slot_by_row=NOTHING,
            evicted_by_slot=NOTHING,
            evicted_by_row=NOTHING,
            hits=np.zeros(rows, np.int64),
            raised=np.full((self._streams, (rows + 1) * self._weighs), -np.inf),
            doubtful=np.zeros(rows * self._weighs, np.int64),
            lags=self._lags,
        )

    def doubled(self, out: Found) -> Found:
        """Return buffers for twice as many matches; later blocks also get this size."""
        self._matches *= 2
        return out._replace(
            matches=np.empty(self._matches, MATCH),
            marks=np.empty(self._matches * self._weighs, MARK),
        )

    def for_leaving(self, most: int, out: Found) -> Found:
        """Return buffers for up to ``most`` rows that are shed but not yet settled."""
        if self._left.size < most:
            self._victims, self._left = np.empty(most, VICTIM), np.empty(most, np.int64)
        return out._replace(victims=self._victims, left=self._left)
