"""The sampling schemes of section 6.2.4: their rows, names and looks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.memory_limited.frequencies import zipf
from experiments.memory_limited.samples import (
    LearnedPps,
    LearnedUniform,
    LeftEq,
    TruePps,
    TrueUniform,
)
from experiments.memory_limited.streams import OPPOSITE_RATE, RATE, WINDOW
from shedjoin.lab.plan import FrequencyModel, uniform_fraction
from shedjoin.lab.plan.clusters import clusters
from shedjoin.plan.coins import whole_coins
from shedjoin.policies import Policy
from shedjoin.types import FloatArray

SKEW = 2.0
UNIFORM, UNIFORM_LEARNED = "UNIFORM, true frequencies", "UNIFORM, learned"
PPS, PPS_LEARNED = "PPS-CLUSTER, true frequencies", "PPS-CLUSTER, learned"
EQ = "EQ-CLUSTER"
ROW_BYTES, COINS_BYTES = 32, 2
"""The paper's sizes: rows of UNIFORM also keep which result is the next."""
STYLES: dict[str, dict[str, Any]] = {
    UNIFORM: {"color": "#1f6f8b", "linestyle": "-", "marker": "o"},
    UNIFORM_LEARNED: {"color": "#7db7cc", "linestyle": "-", "marker": "P"},
    PPS: {"color": "#c8553d", "linestyle": "--", "marker": "s"},
    PPS_LEARNED: {"color": "#e3a593", "linestyle": "--", "marker": "X"},
    EQ: {"color": "#b99a3e", "linestyle": "-.", "marker": "D"},
}


class Scheme(NamedTuple):
    """A policy and the rows that its memory holds."""

    policy: Policy
    rows: int


def frequencies(case: str, seed: int) -> tuple[FloatArray, FloatArray]:
    """Left and right; IC: common on one and rare on the other, UC: in any order."""
    right = zipf(SKEW)
    if case == "IC":
        return right[::-1].copy(), right
    return np.random.default_rng((seed, 2)).permutation(right), right


def schemes(
    own: FloatArray, opposite: FloatArray, percent: int, seed: int
) -> dict[str, Scheme]:
    """All schemes in the same memory, a part of the left window."""
    rows = WINDOW * percent // 100
    fewer = rows * ROW_BYTES // (ROW_BYTES + COINS_BYTES)
    window = FrequencyModel(
        own, opposite, WINDOW, rate=RATE, opposite_rate=OPPOSITE_RATE
    )
    part = uniform_fraction(fewer, window)
    results = whole_coins(clusters(window).size).astype(np.int64)
    known = TrueUniform(part, tuple(results.tolist()), seed)
    return {
        UNIFORM: Scheme(known, fewer),
        UNIFORM_LEARNED: Scheme(LearnedUniform(seed=seed), fewer),
        PPS: Scheme(TruePps(tuple(opposite.tolist()), seed), rows),
        PPS_LEARNED: Scheme(LearnedPps(seed=seed), rows),
        EQ: Scheme(LeftEq(seed=seed), rows),
    }
