"""Matches on their way out: they are counted, and weighted if they are a sample."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.round import MARK, Found
from shedjoin.operators.budgeted.gather import Pairs
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.frame import answers
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.policies.base import SamplingPolicy
from shedjoin.sampling.weights import Sampled, SelfCheck, weigh
from shedjoin.types import BoolArray, IntArray

_LEAST = float(np.finfo(np.float64).tiny)


class Matches:
    """Turns the matches of the kernels into pairs, with weights if they are a sample.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    """

    def __init__(self, store: BudgetedStore) -> None:
        self._store = store
        self._policy = store.shedding.policy
        self.weight = 0.0
        self.check = SelfCheck()

    def given(
        self, out: Found, arrivals: Ordered, start: int, monitored: BoolArray
    ) -> Pairs:
        """Pairs for the matches that were found since the last call.

        ``start`` is the first arrival of the block. ``monitored`` marks the matches
        with monitored keys, by which a sample is checked.
        """
        found = out.matches[: int(out.cursor[0]["found"])]
        # Copies: kernels reuse these buffers before the matches are gathered.
        row, place = found["row"].astype(np.int64), found["place"].copy()
        if not isinstance(self._policy, SamplingPolicy):
            return Pairs(row + start, place, None)
        key = arrivals.key[row + start]
        pool = np.zeros(row.size, np.int64)
        if not self._store.pooled:
            pool = self._store.stream_at(place, arrivals)
        sampled = self._weighed(self._policy, out, key, pool)
        self.weight += float(sampled.weight.sum())
        self.check.add(sampled.those(monitored))
        return Pairs(row + start, place, sampled)

    def _weighed(
        self, policy: SamplingPolicy, out: Found, key: IntArray, pool: IntArray
    ) -> Sampled:
        zero, count = int(out.cursor[0]["block_start"]), key.size
        found = out.matches[:count]
        row, number = found["row"].astype(np.int64), found["number"].copy()
        bar = self._store.thresholds.bars(zero, out.raised, row, number, pool)
        score, chance = (out.marks[name][:count].copy() for name in MARK.names or ())
        given = policy.inclusion(score, bar, key, number)
        # A match that was found had a positive probability; its weight is 1 over it.
        stayed = answers.chances(policy, "inclusion", given, count, least=_LEAST)
        weighed = weigh(self._store.shard, stayed, zero + row, number, chance)
        return weighed.doubted(out.doubtful[row] > 0)
