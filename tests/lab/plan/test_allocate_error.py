"""Memory for several aggregates: brute force over divisions, and what min-max means."""

from __future__ import annotations

from itertools import product
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    AgeModel,
    Aggregate,
    FrequencyModel,
    SampledAggregate,
    allocate_errors,
    sampling_errors,
    uniform_fraction,
)
from shedjoin.lab.plan.sampling_choice import Scheme

from .figures import decreasing, direct, increasing, inverse

SCHEMES: tuple[Scheme, ...] = ("uniform", "pps_cluster", "eq_cluster")
COUNT = Aggregate(period=500)
FLAT = AgeModel([1.0] * 10)
SKEWED = FrequencyModel([0.1, 0.9], [0.9, 0.1], 10, rate=1, opposite_rate=5)
LIKE = FrequencyModel([0.9, 0.1], [0.9, 0.1], 10, rate=1, opposite_rate=5)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("weights", [None, (1.0, 3.0, 0.5)])
def test_no_division_is_better(
    scheme: Scheme, weights: tuple[float, ...] | None
) -> None:
    sums = [SampledAggregate(window, COUNT, scheme) for window in (FLAT, SKEWED, LIKE)]
    scale = weights or (1.0, 1.0, 1.0)
    steps = 60
    # Errors of all memories in quarters of a tuple: every division of 15 is tried.
    errors = np.array(
        [
            [w * each.error(step / 4) for step in range(steps + 1)]
            for each, w in zip(sums, scale, strict=True)
        ]
    )
    best = min(
        max(errors[0, a], errors[1, b], errors[2, steps - a - b])
        for a, b in product(range(steps + 1), repeat=2)
        if a + b <= steps
    )
    found = allocate_errors(steps / 4, sums, weights)
    greatest = max(w * e for w, e in zip(scale, found.error, strict=True))
    assert sum(found.memory) <= steps / 4 * (1 + 1e-9)
    assert greatest <= best * (1 + 1e-9)
    assert greatest > 0.8 * best  # a quarter of a tuple makes no more difference


def test_by_hand() -> None:
    # The variance is 6 (1 - p) / p for each unit of time, and there are 2 results.
    short, long = (
        SampledAggregate(AgeModel([1, 1]), Aggregate(period), "eq_cluster")
        for period in (100, 400)
    )
    found = allocate_errors(1.4, [short, long])
    assert found.memory == pytest.approx((1.0, 0.4))  # p = 1/2 and 1/5
    assert found.error == pytest.approx([sqrt(600) / 200] * 2)
    weighted = allocate_errors(2, [short, short], weights=[1, 2])
    odds = [(2 - kept) / kept for kept in weighted.memory]
    assert odds[0] == pytest.approx(4 * odds[1])


@pytest.mark.parametrize("scheme", ["pps_cluster", "eq_cluster"])
def test_all_errors_are_equal(scheme: Scheme) -> None:
    windows = (increasing(), decreasing(), direct(1), inverse(2))
    sums = [SampledAggregate(window, COUNT, scheme) for window in windows]
    found = allocate_errors(700, sums)
    assert found.error == pytest.approx([found.maximum] * 4)
    assert sum(found.memory) == pytest.approx(700)
    # The same share of each demand leaves one of them with more.
    assert max(each.error(175) for each in sums) > 1.1 * found.maximum


def test_an_error_that_stays_leaves_the_rest_to_the_others() -> None:
    stuck, other = (
        SampledAggregate(AgeModel([0.5]), COUNT),
        SampledAggregate(FLAT, COUNT),
    )
    found = allocate_errors(8, [stuck, other])
    floor = stuck.error(1.0)
    assert found.memory == pytest.approx((1.0, 7.0))
    assert found.maximum == pytest.approx(floor)
    assert 0 < found.error[1] < floor


@pytest.mark.parametrize("scheme", SCHEMES)
def test_errors_are_those_of_the_choice_of_a_scheme(scheme: Scheme) -> None:
    aggregate = Aggregate(period=300, mean=-2.0, sd=1.5, of="opposite")
    window = inverse(1)
    exact = 300 * 2.0 * window.results(window.demand)
    each = SampledAggregate(window, aggregate, scheme)
    told = getattr(sampling_errors(100, window, aggregate), scheme)
    assert each.error(100) == pytest.approx(told / exact)


def test_errors_of_averages_are_in_standard_deviations() -> None:
    one, ten = (
        SampledAggregate(direct(1), Aggregate(500, mean=0, sd=sd)) for sd in (1, 10)
    )
    assert one.error(100) == pytest.approx(ten.error(100))
    fraction = uniform_fraction(100, direct(1))
    count = 500 * direct(1).results(500)
    assert one.error(100) == pytest.approx(sqrt((1 - fraction) / fraction / count))


def test_edges() -> None:
    sums = [SampledAggregate(window, COUNT, "eq_cluster") for window in (FLAT, LIKE)]
    assert allocate_errors(0, sums).maximum == inf
    found = allocate_errors(1000, sums)
    assert list(found.memory) == [10, 10]
    assert found.maximum == 0
    nothing = SampledAggregate(AgeModel([0, 0]), COUNT)
    assert allocate_errors(5, [nothing, sums[0]]).memory == pytest.approx((0, 5))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: allocate_errors(1, []),
        lambda: allocate_errors(-1, [SampledAggregate(FLAT, COUNT)]),
        lambda: allocate_errors(1, [SampledAggregate(FLAT, COUNT)], weights=[0]),
        lambda: allocate_errors(1, [SampledAggregate(FLAT, COUNT)], weights=[1, 1]),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
