"""Memory of uniform sampling: the reference numbers, the sums by hand, the inverse."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import AgeModel, FrequencyModel, uniform_fraction, uniform_memory
from shedjoin.lab.plan.clusters import Window

from .figures import bell, decreasing, direct, increasing, inverse

SMALL = FrequencyModel([0.5, 0.5], [0.75, 0.25], 10, rate=1, opposite_rate=2)
EXAMPLE = AgeModel([1, 1, 2, 1])
EXAMPLE_AGES = [1, 2, 3, 3, 4]

curves = st.lists(st.integers(0, 9), min_size=1, max_size=6)
fractions = st.floats(1e-3, 1)


@st.composite
def frequency_models(draw: st.DrawFn) -> FrequencyModel:
    size = draw(st.integers(1, 5))
    counts = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    own, opposite = draw(counts), draw(counts)
    return FrequencyModel(
        [count / sum(own) for count in own],
        [count / sum(opposite) for count in opposite],
        window=draw(st.integers(1, 50)),
        rate=draw(st.sampled_from([0.5, 1.0, 3.0])),
        opposite_rate=draw(st.sampled_from([0.5, 1.0, 3.0])),
    )


windows = st.one_of(curves.map(AgeModel), frequency_models())


@pytest.mark.parametrize(
    ("window", "fraction", "memory"),
    [
        (SMALL, 0.2, 6.024299),
        (SMALL, 0.5, 8.697927),
        (EXAMPLE, 0.1, 1.124410),
        (EXAMPLE, 0.3, 2.548830),
        (EXAMPLE, 0.7, 3.662470),
        (EXAMPLE, 1.0, 4.0),
    ],
)
def test_small_windows(window: Window, fraction: float, memory: float) -> None:
    assert uniform_memory(fraction, window) == pytest.approx(memory, abs=1e-6)


@pytest.mark.parametrize(
    ("window", "fraction", "memory"),
    [
        (inverse(2), 0.1, 51.91),
        (inverse(1), 0.02, 82.56),
        (direct(1), 0.05, 366.25),
    ],
    ids=["IC 2", "IC 1", "DC 1"],
)
def test_fifty_values(window: Window, fraction: float, memory: float) -> None:
    assert uniform_memory(fraction, window) == pytest.approx(memory, abs=0.006)


def coin_by_coin(fraction: float, ages: list[float]) -> float:
    """Expected age at the last success, summed over all outcomes of the coins."""
    total = 0.0
    for outcome in range(2 ** len(ages)):
        heads = [place for place in range(len(ages)) if outcome >> place & 1]
        tails = len(ages) - len(heads)
        chance = fraction ** len(heads) * (1 - fraction) ** tails
        total += chance * (ages[heads[-1]] if heads else 0)
    return total


@given(fractions, st.integers(1, 8))
def test_evenly_spread_matches(fraction: float, coins: int) -> None:
    window = FrequencyModel([1.0], [1.0], window=coins)
    ages = [float(age) for age in range(1, coins + 1)]
    assert uniform_memory(fraction, window) == pytest.approx(
        coin_by_coin(fraction, ages)
    )


@given(fractions, curves.filter(lambda curve: 0 < sum(curve) <= 10))
def test_age_curves(fraction: float, curve: list[int]) -> None:
    ages = [float(age) for age, hits in enumerate(curve, 1) for _ in range(hits)]
    expected = 3 * coin_by_coin(fraction, ages)
    assert uniform_memory(fraction, AgeModel(curve, rate=3)) == pytest.approx(expected)


def test_whole_coins() -> None:
    # Expected matches 2.6 and 0.2: three coins and one.
    window = FrequencyModel([0.4, 0.6], [0.26, 0.02], window=10)
    memory = 4 * coin_by_coin(0.5, [1 / 3, 2 / 3, 1]) + 6 * coin_by_coin(0.5, [1])
    assert uniform_memory(0.5, window) == pytest.approx(memory)


def test_a_curve_that_stays_below_its_coins_is_kept_to_the_end() -> None:
    assert uniform_memory(1, AgeModel([0.1, 0.1, 0.1])) == 3
    assert uniform_memory(0.5, AgeModel([1, 0.6, 0])) == pytest.approx(1.75)


@pytest.mark.parametrize("window", [increasing(), decreasing(), bell()])
def test_curves_of_fractions_reach_their_whole_sum(window: AgeModel) -> None:
    # The last of five results comes where the curve ends, in spite of rounding.
    ends = max(age for age, hits in enumerate(window.curve, 1) if hits > 0)
    assert uniform_memory(1, window) == pytest.approx(ends, abs=1)


@given(windows, fractions, fractions)
def test_memory_rises_with_the_fraction(window: Window, a: float, b: float) -> None:
    low, high = (uniform_memory(part, window) for part in (min(a, b), max(a, b)))
    assert 0 <= low <= high * (1 + 1e-9)
    assert high <= window.demand * (1 + 1e-9)


@given(windows, fractions)
def test_the_inverse(window: Window, fraction: float) -> None:
    # Many coins flatten the curve: near its end fractions differ and memory does not.
    memory = uniform_memory(fraction, window)
    found = uniform_fraction(memory, window)
    assert uniform_memory(found, window) == pytest.approx(memory)
    if fraction < 0.2:
        assert found == pytest.approx(fraction, rel=1e-6)


@pytest.mark.parametrize("window", [SMALL, EXAMPLE, inverse(2), direct(1), bell()])
@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.3, 0.8])
def test_the_inverse_of_known_windows(window: Window, fraction: float) -> None:
    memory = uniform_memory(fraction, window)
    assert uniform_fraction(memory, window) == pytest.approx(fraction, rel=1e-9)


@given(windows, windows, st.floats(0, 1))
def test_both_windows(left: Window, right: Window, part: float) -> None:
    memory = part * (left.demand + right.demand)
    found = uniform_fraction(memory, left, right)
    used = uniform_memory(found, left) + uniform_memory(found, right)
    assert used <= memory * (1 + 1e-9) + 1e-9
    if found < 1:
        assert used == pytest.approx(memory, abs=1e-9)


@given(windows)
def test_edges(window: Window) -> None:
    assert uniform_memory(0, window) == 0
    assert uniform_fraction(0, window) == 0
    assert uniform_fraction(window.demand, window) == 1
    assert uniform_fraction(10 * window.demand, window) == 1


@pytest.mark.parametrize("fraction", [1e-6, 1e-8])
def test_small_fractions_keep_their_digits(fraction: float) -> None:
    by_age = uniform_memory(fraction, EXAMPLE)
    assert by_age == pytest.approx(fraction * sum(EXAMPLE_AGES), rel=1e-4)
    by_value = uniform_memory(fraction, SMALL)
    assert by_value == pytest.approx(10 * fraction * (16 / 2 + 6 / 2) / 2, rel=1e-4)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: uniform_memory(-0.1, SMALL),
        lambda: uniform_memory(1.1, SMALL),
        lambda: uniform_memory(math.nan, EXAMPLE),
        lambda: uniform_fraction(-1, EXAMPLE),
        lambda: uniform_fraction(math.inf, EXAMPLE),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
