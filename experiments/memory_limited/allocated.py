"""The joins of figures 10 and 11."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from experiments.memory_limited.allocation import SHARE, Duel, claim, hold
from experiments.memory_limited.curves import curve_of
from experiments.memory_limited.frequencies import frequencies, model, trial
from experiments.memory_limited.runs import EVERY_SHED, Trial, TrueAge, TrueProb
from experiments.memory_limited.streams import BUCKETS, RATE, aged
from experiments.part import Claim, Part, Session, values, verdict
from shedjoin.lab.plan import AgeModel, FrequencyModel, Model, predicted_recall
from shedjoin.types import FloatArray

CASES = ("DC", "IC")
SKEWS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
EXPONENTS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
BY_SKEW = zip(
    SKEWS,
    (0.200, 0.290, 0.402, 0.494, 0.546, 0.558, 0.533),
    (0.200, 0.282, 0.376, 0.469, 0.544, 0.388, 0.300),
    (10, 9.6, 8.8, 8.7, 9.9, 14.4, 17.8),
    strict=True,
)
BY_EXPONENT = zip(
    EXPONENTS,
    (0.500, 0.576, 0.623, 0.687, 0.728, 0.758),
    (0.5,) * 6,
    (25.0, 28.8, 31.2, 34.3, 36.4, 37.9),
    strict=True,
)


def _frequency_models(z: float) -> list[FrequencyModel]:
    return [model(case, z) for case in CASES]


def _shares(n: int, exponent: float) -> FloatArray:
    k = np.arange(1.0, BUCKETS + 1)
    shares: FloatArray = (k if n == 0 else BUCKETS - k) ** exponent
    return shares


def _age_models(exponent: float) -> Sequence[Model]:
    return [AgeModel(curve_of(_shares(n, exponent)), RATE) for n in (0, 1)]


FREQUENCY = Duel(
    "figure_10_allocation_frequency",
    "Figure 10: two joins, frequency-based, 20 % of the memory",
    "Zipf parameter Z",
    ("DC join", "IC join"),
    _frequency_models,
    20,
    {z: (a, p, s) for z, a, p, s in BY_SKEW},
)
AGES = Duel(
    "figure_11_allocation_age",
    "Figure 11: two joins, age-based, 50 % of the memory",
    "exponent p of the age curves",
    ("INC join", "DEC join"),
    _age_models,
    50,
    {e: (a, p, s) for e, a, p, s in BY_EXPONENT},
)


def measure(session: Session) -> list[Part]:
    return [_by_skew(session), _by_exponent(session)]


def _by_skew(session: Session) -> Part:
    longest = 1200 if session.quick else 30_000

    @cache
    def trials(n: int, z: float) -> Trial:
        return trial(CASES[n], z, longest=longest)

    def run(n: int, z: float, rows: int) -> float:
        _, right = frequencies(CASES[n], z)
        return trials(n, z).recall(TrueProb(tuple(right.tolist())), rows)

    part = hold(session, FREQUENCY, (1.0, 2.0) if session.quick else SKEWS, run)
    part.claims += [
        claim(
            part,
            "Fig. 10",
            "the minimum recall stays almost constant for ALLOC and decreases sharply "
            "for PROP as Z increases",
            "Only from Z = 1 on. Below, both rise together: from equal frequencies on, "
            "the more skew, the more there is to gain for either join.",
        ),
        _easy(),
    ]
    return part


def _easy() -> Claim:
    rows = 0.1 * 2 * 500
    found = {
        z: [predicted_recall(m, rows) for m in _frequency_models(z)] for z in SKEWS
    }
    text = ", ".join(f"Z={z:g} {dc:.2f}/{ic:.2f}" for z, (dc, ic) in found.items() if z)
    return Claim(
        "Fig. 10",
        "the IC join is easy, the DC join hard, the more so the greater Z",
        f"planned recall of DC/IC with 10 % each: {text}",
        verdict(*(ic > dc for z, (dc, ic) in found.items() if z)),
        "True for Z > 1 only. For less skew IC has the lower recall.",
    )


def _by_exponent(session: Session) -> Part:
    seconds, warm = (1200, 600) if session.quick else (4000, 1000)

    @cache
    def trials(n: int, exponent: float) -> Trial:
        shares = _shares(n, exponent)
        return Trial.of(aged(shares, seconds=seconds, warm_s=warm, seed=11))

    def run(n: int, exponent: float, rows: int) -> float:
        rule = TrueAge.of(curve_of(_shares(n, exponent)))
        return trials(n, exponent).recall(rule, rows, EVERY_SHED)

    part = hold(session, AGES, (0.0, 2.0) if session.quick else EXPONENTS, run)
    inc = values(part.points, series="INC join", measure=SHARE)
    part.claims += [
        claim(
            part,
            "Fig. 11",
            "the minimum recall increases with p for ALLOC and is constant for PROP",
        ),
        Claim(
            "Fig. 11",
            "ALLOC gives less memory to DEC and more to INC as p increases",
            "INC gets " + ", ".join(f"{share:.1f}" for share in inc) + " % of 50",
            verdict(inc == sorted(inc)),
        ),
    ]
    return part
