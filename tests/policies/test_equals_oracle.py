"""The operator under a budget gives what the slow simulation gives, pair for pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast, get_args

import numpy as np
import pytest

from effort import cases
from oracle import policies as slow
from oracle.shedding import Order, Rules, Score, simulate
from shedjoin import Every
from shedjoin.models.curve import priorities
from shedjoin.policies import (
    DimpProb,
    Fifo,
    Greedy,
    IJoin,
    Policy,
    Recent,
    Residents,
    Simp,
    Size,
    UntilExpiry,
)
from shedjoin.spec.shedding import Discipline
from shedjoin.types import FloatArray

from .streams import pairs, random_arrivals, run

WINDOW = 9
CURVE = (3, 0, 2, 1, 4, 0, 0, 1, 2)
SEEDS = (2, 0, 1)[: cases(3)]
FREQUENCY = ({0: 0.1, 1: 0.4, 2: 0.3, 3: 0.2}, {0: 0.5, 1: 0.1, 2: 0.25, 3: 0.15})


@dataclass(frozen=True, slots=True)
class TrueProb(Policy):
    """Told the true frequencies."""

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        table = np.array([[one[key] for key in range(4)] for one in FREQUENCY])
        return table[1 - residents.stream, residents.key]


@dataclass(frozen=True, slots=True)
class TrueAge(Policy):
    """Told the true curve."""

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        best = np.append(priorities(np.array(CURVE, float)), -np.inf)
        return best[np.minimum(residents.age_us // 1_000_000, WINDOW)]


SCHEMES: list[tuple[Policy, Score]] = [
    (Fifo(), slow.fifo),
    (Recent(), slow.recent),
    (UntilExpiry(), slow.until_expiry),
    (Greedy(), slow.greedy),
    (Size(), lambda resident, _now, _simulation: resident.matches),
    (Simp(), lambda resident, _now, _simulation: resident.importance),
    (DimpProb(), slow.dimpprob),
    (TrueProb(), slow.prob(FREQUENCY)),
    (TrueAge(), slow.age([Fraction(value) for value in CURVE])),
]


def ijoin(maturity: int, *, foresight: bool = True, decay: float = 0.1) -> IJoin:
    return IJoin(
        maturity=f"{maturity} seconds",
        patience="3 seconds",
        penalty=0.7,
        decay=decay,
        foresight=foresight,
    )


def check(
    policy: Policy,
    score: Callable[..., float],
    capacity: int | tuple[int, int],
    discipline: Discipline,
    seed: int,
) -> None:
    instants = random_arrivals(seed, per_instant=1 + seed % 3)
    all_probe = discipline == "shed_then_probe"
    order = "shed_then_join" if all_probe else discipline
    expected = simulate(
        instants,
        score,
        Rules(
            order=cast("Order", order),
            window=WINDOW,
            capacity=capacity,
            closed=True,
            ties=policy.ties,
            look_ahead=policy.pace.counts_instant_first,
            dropped_probe=all_probe,
            instant_meets=all_probe,
            wary=True,
        ),
    )
    found = run(
        instants,
        policy,
        capacity,
        window=WINDOW,
        discipline=discipline,
        per_batch=1 + seed % 11,
        restart_every=seed % 4,
    )
    assert pairs(found) == sorted(expected.pairs)
    assert found.report.importance == pytest.approx(expected.importance)
    assert found.report.shed[0] + found.report.shed[1] >= sum(expected.sheds)


@pytest.mark.parametrize("discipline", get_args(Discipline))
@pytest.mark.parametrize("capacity", [0, 1, 5, 12, (3, 3), (1, 6)], ids=str)
@pytest.mark.parametrize(("policy", "score"), SCHEMES, ids=lambda one: str(one)[:12])
def test_schemes(
    policy: Policy,
    score: Score,
    capacity: int | tuple[int, int],
    discipline: Discipline,
) -> None:
    for seed in SEEDS:
        check(policy, score, capacity, discipline, seed)


@pytest.mark.parametrize("maturity", [0, 1, 2, 5])
@pytest.mark.parametrize("foresight", [True, False])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_ijoin(maturity: int, foresight: bool, decay: float) -> None:
    policy = ijoin(maturity, foresight=foresight, decay=decay)
    score = slow.ijoin(maturity, 3, 0.7, decay or None)
    for seed in (0, 3, 6, 9)[: cases(4)]:
        check(policy, score, (4, 4), "shed_then_join", seed)


def test_every_k_is_about_as_often() -> None:
    instants = random_arrivals(1, instants=200)
    found = run(
        instants,
        ijoin(2),
        (4, 4),
        window=WINDOW,
        discipline="shed_then_join",
        recompute=Every(10),
        per_batch=200,
    )
    sheds = found.report.refused + found.report.evicted + found.report.outlived
    assert found.report.recomputed == -(-sheds // 10)
