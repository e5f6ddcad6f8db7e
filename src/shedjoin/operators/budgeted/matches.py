"""Turns matches that kernels have found into pairs, with weights in a sample."""

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
    """Turns matches into pairs; in a sample, computes and sums up their weights.

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
        """Return the matches in ``out`` as pairs.

        ``start`` is the first arrival of the block. ``monitored`` says for each match
        whether its key is monitored. A sample is checked on matches of monitored keys.
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
        # The weight is 1 / probability. A resident that is still there cannot have had
        # probability 0.
        stayed = answers.chances(policy, "inclusion", given, count, least=_LEAST)
        weighed = weigh(self._store.shard, stayed, zero + row, number, chance)
        return weighed.doubted(out.doubtful[row] > 0)
