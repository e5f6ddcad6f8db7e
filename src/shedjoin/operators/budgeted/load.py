"""Applies a throttle: drops arrivals and residents, so that enough work is saved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shedjoin.kernels.round import PROBE, RETAIN
from shedjoin.models.asked import AskedModels
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.frame import answers
from shedjoin.operators.frame.limits import Paced
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.policies.base import LoadPolicy
from shedjoin.policies.residents import Residents
from shedjoin.sampling.lots import lots
from shedjoin.spec.shedding import Shedding
from shedjoin.types import FloatArray, IntArray

_LOTS = 0x10AD
"""Combined with the seed, so that these lots differ from the lots of scores."""
_SLOWLY = 0.5
"""Counts of work are multiplied by the factor by which counts of keys fade, raised to
this power. So work is averaged over several windows."""
_ENOUGH, _AMONG = 128, 1 << 14
"""Least and greatest number of arrivals from which the chances of residents are
computed when a throttle closes."""


class Load:
    """Applies the load policy while a throttle allows less than all work.

    If the memory policy is a sample, the load policy is not applied. Instead, the
    sample keeps fewer residents: see ``BudgetedStore.limit_sample``.

    Parameters
    ----------
    shedding : Shedding
        Policies and throttle.
    """

    def __init__(self, shedding: Shedding) -> None:
        policy = shedding.policy
        self._policy = policy if isinstance(policy, LoadPolicy) else shedding.load
        self._told = self._throttle = shedding.throttle
        self._stored = 0
        self._seed = shedding.coin_seed ^ _LOTS
        self.active = (
            shedding.throttle.active
            and self._policy is not None
            and not shedding.policy.samples
        )

    def pace(self, store: BudgetedStore) -> None:
        """Set the share of work that is allowed, given the recent work."""
        if self.active:
            self._throttle = replace(self._told, share=store.paced_share)

    def count(
        self, store: BudgetedStore, rows: int, matched: int, exact: float, fade: float
    ) -> None:
        """Count the work of a block, and the work that the throttle allowed for it.

        ``rows`` are the arrivals of the block, and ``matched`` their matches. ``exact``
        is the number of matches that they would have without shedding. Earlier work is
        multiplied by a power of ``fade``.
        """
        told, paced = self._told, store.paced
        if not told.active:
            store.paced = Paced()
            return
        # A sample does the same update work for all rows, because each draws a lot.
        update = told.update if self.active else 0.0
        done = update * self._stored + told.match * matched
        meant = store.paced_share * (update * rows + told.match * exact)
        fade **= _SLOWLY  # results depend on what was stored up to a window ago
        store.paced = Paced(fade * paced.done + done, fade * paced.meant + meant)

    def limit(self, does: IntArray, arrivals: Residents, models: AskedModels) -> int:
        """Remove actions of arrivals, chosen by lot; return how many are dropped."""
        rows = self._known(arrivals, models)
        admit, probe, store = self._chances(rows, rows)
        lot = self._lots(arrivals)
        if probe is not None:
            does[lot >= probe] &= ~PROBE
        if store is not None:
            does[lot >= store] &= ~RETAIN
        dropped = np.zeros(lot.size, np.bool_)
        if admit is not None:
            dropped = (lot >= admit) & (does > 0)
            does[dropped] = 0
        self._stored = int(np.count_nonzero(does & RETAIN))
        return int(dropped.sum())

    def thin(self, store: BudgetedStore, part: Ordered) -> IntArray:
        """Remove residents that would not be stored now; return how many, by stream.

        These residents were stored when the throttle allowed more work. If they stayed,
        a throttle that closes would have its full effect only after a window. If a part
        of the micro-batch has too few arrivals to compute the chances, the residents
        stay until a later part has enough.
        """
        streams, share = len(store.spec.streams), self._told.share
        closes = self.active and store.throttled > share
        if closes and part.key.size < _ENOUGH:
            return np.zeros(streams, np.int64)
        store.throttled = share
        if not closes:
            return np.zeros(streams, np.int64)
        self.pace(store)
        table, models = store.table, store.models
        alive = table.alive()
        residents = table.residents(alive, store.spec.keeps_us, None)
        rows = slice(_AMONG)
        among = replace(
            residents,
            stream=part.stream[rows],
            key=part.key[rows],
            time=part.time[rows],
            number=np.arange(part.key[rows].size),
            importance=part.importance[rows],
            size=part.size[rows],
        )
        chance = self._chances(
            self._known(residents, models), self._known(among, models)
        )[2]
        if chance is None:
            return np.zeros(streams, np.int64)
        gone = alive[self._lots(residents) >= chance]
        by_stream = np.bincount(table.stream(gone), minlength=streams)
        table.vacate(gone, pooled=store.pooled)
        return by_stream

    def _known(self, rows: Residents, models: AskedModels) -> Residents:
        return replace(rows, learned=models, asked=type(self._policy).__name__)

    def _lots(self, rows: Residents) -> FloatArray:
        return lots(self._seed, rows.key, rows.number)

    def _chances(
        self, rows: Residents, among: Residents
    ) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
        policy = self._policy
        if policy is None:
            return None, None, None
        given = policy.chances(rows, among, self._throttle)
        admit, probe, store = (
            None
            if chance is None
            else answers.chances(policy, "chances", chance, rows.key.size)
            for chance in given
        )
        if not among.models.is_empty:
            return admit, probe, store
        # Without learned rates, policies cannot estimate the work. So every row gets
        # the share as its chance.
        alike = np.full(rows.key.size, self._throttle.share)
        return (
            None if admit is None else alike,
            None if probe is None else alike,
            None if store is None else alike,
        )
