"""Work of a sampled join: the reference numbers, and what must hold for any join."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    Costs,
    FrequencyModel,
    admitted,
    discarded,
    residence,
    sampled_probes,
    sampled_work,
    work_fraction,
)
from shedjoin.plan.model import FloatArray

from .figures import zipf
from .test_sampling import fractions, frequency_models

Join = tuple[FrequencyModel, FrequencyModel]

costs = st.builds(Costs, st.floats(0, 2), st.floats(0, 2))


def join(left: FloatArray, right: FloatArray, rate: float, window: float) -> Join:
    return (
        FrequencyModel(left, right, window, rate, rate),
        FrequencyModel(right, left, window, rate, rate),
    )


TINY = join(np.array([0.5, 0.5]), np.array([0.75, 0.25]), 10, 5)
DIRECT = join(zipf(1), zipf(1), 100, 10)
INVERSE = join(zipf(1)[::-1], zipf(1), 100, 10)
EVEN = join(zipf(0), zipf(0), 100, 10)
STEEP = join(zipf(2)[::-1], zipf(2), 100, 10)


@pytest.mark.parametrize(
    ("fraction", "updates", "probes", "conservative", "usual"),
    [
        (0.2, 19.653737, 421.385051, 2.5, 0.893075),
        (0.5, 19.999137, 480.000863, 2.799987, 1.649983),
        (1.0, 20, 500, 2.9, 2.9),
    ],
)
def test_tiny(
    fraction: float, updates: float, probes: float, conservative: float, usual: float
) -> None:
    price = Costs(update=0.02, match=0.005)
    found = (
        sum(admitted(fraction, window) for window in TINY),
        sampled_probes(fraction, *TINY),
        sampled_work(fraction, *TINY, costs=price, conservative=True),
        sampled_work(fraction, *TINY, costs=price),
    )
    assert found == pytest.approx((updates, probes, conservative, usual), abs=1e-6)


@pytest.mark.parametrize(
    ("windows", "price", "full", "conservative", "usual"),
    [
        (TINY, Costs(0.06, 0.005), 3.7, 0.018412, 0.054209),
        (DIRECT, Costs(0.004, 0.0005), 8.828, 0.001517, 0.049870),
        (INVERSE, Costs(0.004, 0.0005), 1.672, 0.145602, 0.333379),
        (INVERSE, Costs(0.001, 0.0005), 1.072, 0.587707, 0.917839),
        (EVEN, Costs(0.004, 0.0005), 2.8, 0.034879, 0.126655),
    ],
    ids=["tiny", "DC 1", "IC 1", "IC 1, cheap updates", "even"],
)
def test_fractions(
    windows: Join, price: Costs, full: float, conservative: float, usual: float
) -> None:
    assert sampled_work(1, *windows, costs=price) == pytest.approx(full, abs=0.0006)
    found = (
        work_fraction(1, *windows, costs=price, conservative=True),
        work_fraction(1, *windows, costs=price),
    )
    assert found == pytest.approx((conservative, usual), abs=1e-6)


def test_a_part_of_a_coin_counts_as_one() -> None:
    # Taken as parts, both fractions are 1 to seven digits though all work is 1.010.
    price = Costs(0.004, 0.002)
    assert sampled_work(1, *STEEP, costs=price) == pytest.approx(1.010, abs=0.0006)
    for conservative in (False, True):
        found = work_fraction(1, *STEEP, costs=price, conservative=conservative)
        assert 0.98 < found < 0.995


@pytest.mark.parametrize(
    ("matches", "fraction", "time"),
    [
        (5, 0.2, 4.62144),
        (20, 0.1, 6.04709),
        (3, 0.5, 7.08333),
        (50, 0.05, 6.49239),
    ],
)
def test_residence(matches: float, fraction: float, time: float) -> None:
    window = FrequencyModel([1.0], [1.0], 10, opposite_rate=matches / 10)
    assert residence(fraction, window) == pytest.approx([time], abs=5e-6)
    assert discarded(fraction, window) == pytest.approx([(1 - fraction) ** matches])


def test_admitted_is_what_is_not_discarded() -> None:
    window = FrequencyModel([0.6, 0.4], [0.5, 0.2], 10, rate=7)
    lost = np.array([0.6, 0.4]) @ discarded(0.3, window)
    assert admitted(0.3, window) == pytest.approx(7 * (1 - lost))


@given(frequency_models(), frequency_models(), costs, fractions, fractions)
def test_work_rises_with_the_fraction(
    left: FrequencyModel, right: FrequencyModel, price: Costs, a: float, b: float
) -> None:
    for conservative in (False, True):
        low, high, full = (
            sampled_work(part, left, right, costs=price, conservative=conservative)
            for part in (min(a, b), max(a, b), 1)
        )
        assert 0 <= low <= high * (1 + 1e-9) <= full * (1 + 1e-8)


@given(frequency_models(), costs, fractions)
def test_conservative_is_never_less(
    window: FrequencyModel, price: Costs, fraction: float
) -> None:
    usual = sampled_work(fraction, window, costs=price)
    most = sampled_work(fraction, window, costs=price, conservative=True)
    assert usual <= most * (1 + 1e-9) + 1e-12


@given(frequency_models(), frequency_models(), fractions, st.booleans())
def test_the_inverse(
    left: FrequencyModel, right: FrequencyModel, fraction: float, conservative: bool
) -> None:
    price = Costs(update=0.5, match=0.25)
    work = sampled_work(fraction, left, right, costs=price, conservative=conservative)
    found = work_fraction(work, left, right, costs=price, conservative=conservative)
    again = sampled_work(found, left, right, costs=price, conservative=conservative)
    assert again == pytest.approx(work)
    assert found >= fraction * (1 - 1e-6)


@given(frequency_models(), costs)
def test_edges(window: FrequencyModel, price: Costs) -> None:
    full = sampled_work(1, window, costs=price)
    assert sampled_work(1, window, costs=price, conservative=True) == full
    assert sampled_work(0, window, costs=price) == 0
    assert work_fraction(full, window, costs=price) == 1
    assert work_fraction(2 * full, window, costs=price, conservative=True) == 1


def test_no_work() -> None:
    assert work_fraction(0, *TINY, costs=Costs(0.02, 0.005)) == 0
    assert work_fraction(0, *TINY, costs=Costs(0, 0)) == 1


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Costs(update=-1, match=1),
        lambda: Costs(update=1, match=math.inf),
        lambda: discarded(2, TINY[0]),
        lambda: admitted(-1, TINY[0]),
        lambda: residence(math.nan, TINY[0]),
        lambda: sampled_work(1.5, *TINY, costs=Costs(1, 1)),
        lambda: work_fraction(-1, *TINY, costs=Costs(1, 1)),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
