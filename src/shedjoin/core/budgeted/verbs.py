"""What a policy says of arrivals and residents, as the kernels want it."""

from __future__ import annotations

import numpy as np

from shedjoin.core.budgeted.ordered import Ordered
from shedjoin.core.policy import Policy, Residents
from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.stages import ADMIT, PROBE, RETAIN, Arriving
from shedjoin.models.learned import Models
from shedjoin.types import FloatArray, IntArray


class Verbs:
    """Asks a policy.

    Parameters
    ----------
    policy : Policy
        The policy.
    models : Models
        What it may know.
    keep_us : (int, int)
        How long a row of each side can be matched.
    seed : int
        Of its coins.
    """

    def __init__(
        self, policy: Policy, models: Models, keep_us: tuple[int, int], seed: int
    ) -> None:
        self._policy = policy
        self._models = models
        self._keep_us = keep_us
        self._seed = seed
        self.unadmitted = 0
        self.unretained = 0

    def arriving(
        self, rows: Ordered, start: int, end: int, number: int, now_us: int
    ) -> Arriving:
        """Arrivals of a block, the first of which has that number."""
        part = slice(start, end)
        newcomers = Residents(
            side=rows.side[part],
            key=rows.key[part],
            time=rows.time[part],
            number=number + np.arange(end - start),
            importance=rows.importance[part],
            matches=np.zeros(end - start),
            last_match=rows.time[part],
            now_us=now_us,
            keep_us=self._keep_us,
        )
        return Arriving(
            side=newcomers.side,
            key=newcomers.key,
            time=newcomers.time,
            importance=newcomers.importance,
            size=rows.size[part],
            score=self.scores(newcomers, first=True),
            place=-1 - np.arange(start, end),
            does=self._does(newcomers),
            chance=self._chance(newcomers),
        )

    def scores(self, residents: Residents, *, first: bool = False) -> FloatArray:
        """Scores of residents, or the first ones of arrivals."""
        score = self._policy.first_score if first else self._policy.score
        found = np.asarray(score(residents, self._models), np.float64)
        return np.nan_to_num(found, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def _does(self, newcomers: Residents) -> IntArray:
        policy, models = self._policy, self._models
        rows = newcomers.key.size
        admit = policy.admit(newcomers, models)
        probe = policy.probe(newcomers, models)
        chance = policy.retain(newcomers, models)
        does = np.full(rows, ADMIT | PROBE | RETAIN)
        if probe is not None:
            does[~probe] &= ~PROBE
        if chance is not None:
            does[self._coin(newcomers.number) >= chance] &= ~RETAIN
        if admit is not None:
            self.unadmitted += int((~admit).sum())
            does[~admit] = 0
        self.unretained += int(((does & (ADMIT | RETAIN)) == ADMIT).sum())
        return does

    def _chance(self, newcomers: Residents) -> FloatArray:
        chance = self._policy.thin(newcomers, self._models)
        return np.ones(newcomers.key.size) if chance is None else chance

    def _coin(self, number: IntArray) -> FloatArray:
        """A number between 0 and 1 for each arrival: the same whenever it is drawn."""
        seed = np.full(number.size, self._seed)
        return (chain_words(seed, number) >> 11 & ((1 << 53) - 1)) / float(1 << 53)
