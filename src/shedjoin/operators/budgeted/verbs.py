"""Calls the methods of a policy, and turns their results into kernel arguments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shedjoin.kernels.places import places_of
from shedjoin.kernels.round import ADMIT, PROBE, RETAIN, Arriving
from shedjoin.kernels.thresholds import toss
from shedjoin.models.asked import AskedModels
from shedjoin.operators.budgeted.load import Load
from shedjoin.operators.frame import answers
from shedjoin.operators.frame.ordered import Ordered
from shedjoin.policies.base import SamplingPolicy
from shedjoin.policies.residents import Met, Residents
from shedjoin.sampling.lots import lots
from shedjoin.spec.shedding import Shedding
from shedjoin.types import FloatArray, IntArray


class Verbs:
    """Calls a policy, and the load policy while a throttle is active.

    Parameters
    ----------
    shedding : Shedding
        The policies.
    keep_us : tuple of int
        How long a row of each stream can be matched.
    probes : bool
        Whether arrivals look for matches, unless the policy forbids it.
    """

    models: AskedModels
    """The models that the policy can read, if it declares that it reads models."""

    def __init__(
        self, shedding: Shedding, keep_us: tuple[int, ...], *, probes: bool
    ) -> None:
        self._policy = shedding.policy
        self._keep_us = keep_us
        self._seed = shedding.coin_seed
        self.load = Load(shedding)
        self._probes = probes
        self.unadmitted = 0
        self.unretained = 0

    def arriving(
        self, rows: Ordered, start: int, end: int, number: int, now_us: int
    ) -> Arriving:
        """Arrivals of a block with the decisions of the policy.

        ``number`` is the number of the first arrival.
        """
        part = slice(start, end)
        met = None
        if "matches" in self._policy.reads:
            met = Met(np.zeros(end - start), rows.time[part].copy())
        newcomers = self._shown(
            Residents(  # copies: a policy may work in place
                stream=rows.stream[part].copy(),
                key=rows.key[part].copy(),
                time=rows.time[part].copy(),
                number=number + np.arange(end - start),
                importance=rows.importance[part].copy(),
                size=rows.size[part].copy(),
                now_us=now_us,
                keep_us=self._keep_us,
                met=met,
            )
        )
        chance = self._chance(newcomers)
        coins = self._coins(newcomers, chance)
        does = self._does(newcomers)
        if coins is not None:
            does[coins < 0] &= ~RETAIN
        self.unretained += int(((does & (ADMIT | RETAIN)) == ADMIT).sum())
        return Arriving(
            first_number=number,
            stream=rows.stream[part],
            key=rows.key[part],
            time=rows.time[part],
            expiry=rows.time[part] + np.array(self._keep_us)[rows.stream[part]],
            importance=rows.importance[part],
            size=rows.size[part],
            score=self._first_scores(newcomers),
            place=places_of(start, end),
            does=does,
            chance=chance,
            coins=np.zeros(end - start, np.int64) if coins is None else coins,
        )

    def scores(self, residents: Residents) -> FloatArray:
        """Scores of residents."""
        return self._scores("score", self._shown(residents))

    def _first_scores(self, newcomers: Residents) -> FloatArray:
        """Scores of arrivals; 0 if they are scored by partners later."""
        if "partners" in self._policy.reads:
            return np.zeros(newcomers.key.size)
        return self._scores("first_score", newcomers)

    def _scores(self, verb: str, rows: Residents) -> FloatArray:
        given = getattr(self._policy, verb)(rows)
        return answers.scores(self._policy, verb, given, rows.key.size)

    def _shown(self, rows: Residents) -> Residents:
        """Rows, with the models if the policy declares that it reads models."""
        learned = self.models if "models" in self._policy.reads else None
        return replace(rows, learned=learned, asked=type(self._policy).__name__)

    def _does(self, newcomers: Residents) -> IntArray:
        policy, rows = self._policy, newcomers.key.size
        admit = policy.admit(newcomers)
        probe = policy.probe(newcomers)
        chance = policy.retain(newcomers)
        does = np.full(rows, ADMIT | PROBE * self._probes | RETAIN)
        if probe is not None:
            does[~answers.choices(policy, "probe", probe, rows)] &= ~PROBE
        if chance is not None:
            lot = lots(self._seed, newcomers.key, newcomers.number)
            does[lot >= answers.chances(policy, "retain", chance, rows)] &= ~RETAIN
        if admit is not None:
            unwanted = ~answers.choices(policy, "admit", admit, rows)
            self.unadmitted += int(unwanted.sum())
            does[unwanted] = 0
        if self.load.active:
            self.unadmitted += self.load.limit(does, newcomers, self.models)
        return does

    def _chance(self, newcomers: Residents) -> FloatArray:
        policy, rows, chance = self._policy, newcomers.key.size, None
        if isinstance(policy, SamplingPolicy) and policy.thins:
            chance = policy.thin(newcomers)
        if chance is None:
            return np.ones(rows)
        return answers.chances(policy, "thin", chance, rows)

    def _coins(self, newcomers: Residents, chance: FloatArray) -> IntArray | None:
        policy, count = self._policy, None
        if isinstance(policy, SamplingPolicy) and policy.tosses:
            count = policy.coins(newcomers)
        if count is None:
            return None
        count = answers.counts(policy, "coins", count, newcomers.key.size)
        found = np.empty(count.size, np.int64)
        toss(self._seed, newcomers.key, newcomers.number, chance, count, found)
        return found
