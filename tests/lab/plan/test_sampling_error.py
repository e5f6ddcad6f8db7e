"""Predicted error of sampled sums, against reference numbers and simulated draws."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    AgeModel,
    Aggregate,
    FrequencyModel,
    SamplingErrors,
    cluster_variance,
    eq_fraction,
    pps_inclusion,
    sampling_errors,
    uniform_missed,
    uniform_variance,
)
from shedjoin.lab.plan.clusters import Window

from .figures import inverse
from .test_sampling import fractions, windows

DRAWS = 4000
WINDOW = FrequencyModel([0.2, 0.3, 0.5], [0.6, 0.3, 0.1], 20, rate=2)
Stream = Literal["own", "opposite"]


def test_reference_deviations() -> None:
    window, total = inverse(1), Aggregate(period=2000, mean=100, sd=100)
    pps = cluster_variance(pps_inclusion(50, window).probability, window, total)
    assert math.sqrt(pps) == pytest.approx(346_282, rel=0.05)
    # One population, whose nine or so largest clusters decide: its sum of 4.73 million
    # is above the 4.36 million expected, and so is the deviation.
    equal = cluster_variance(eq_fraction(50, window), window, total)
    assert math.sqrt(equal) == pytest.approx(1_098_583, rel=0.2)
    assert 2000 * 100 * window.results(500) == pytest.approx(4_728_922, rel=0.1)


def drawn(
    rng: np.random.Generator, of: Stream, mean: float, sd: float
) -> tuple[Any, Any, Any]:
    """Kinds, matches and sums of the tuples of a period of 15, one row a draw."""
    counts = rng.poisson(15 * WINDOW.rate, DRAWS)
    arrived = np.arange(counts.max()) < counts[:, None]
    kinds = rng.choice(3, p=WINDOW.own, size=arrived.shape)
    size = WINDOW.window * np.asarray(WINDOW.opposite)
    matches = rng.poisson(size[kinds]) * arrived
    noise = rng.normal(size=arrived.shape) * sd
    if of == "own":
        return kinds, matches, matches * (mean + noise)
    return kinds, matches, matches * mean + np.sqrt(matches) * noise


@pytest.mark.parametrize("of", ["own", "opposite"])
@pytest.mark.parametrize("scheme", ["eq", "pps"])
def test_simulated_clusters(scheme: str, of: Stream) -> None:
    rng = np.random.default_rng(7)
    kinds, _, sums = drawn(rng, of, 2.0, 3.0)
    inclusion = np.full(3, eq_fraction(12, WINDOW))
    if scheme == "pps":
        inclusion = pps_inclusion(12, WINDOW).probability
    chance = inclusion[kinds]
    kept = rng.random(kinds.shape) < chance
    errors = (np.where(kept, sums / chance, 0.0) - sums).sum(axis=1)
    total = Aggregate(period=15, mean=2, sd=3, of=of)
    predicted = cluster_variance(inclusion, WINDOW, total)
    assert (errors**2).mean() == pytest.approx(predicted, rel=0.1)


def test_simulated_coins() -> None:
    rng = np.random.default_rng(8)
    kinds, matches, _ = drawn(rng, "own", 1.0, 0.0)
    coins = np.rint(WINDOW.window * np.asarray(WINDOW.opposite)).astype(int)[kinds]
    tossed = np.minimum(matches, coins)
    reached = tossed.sum() / matches.sum()
    assert 1 - reached == pytest.approx(uniform_missed(WINDOW), rel=0.05)
    estimates = rng.binomial(tossed, 0.3) / 0.3
    spread = ((estimates - tossed).sum(axis=1) ** 2).mean()
    predicted = reached * uniform_variance(0.3, WINDOW, Aggregate(period=15))
    assert spread == pytest.approx(predicted, rel=0.1)


@pytest.mark.parametrize("part", [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
def test_order_of_the_schemes_for_an_average(part: float) -> None:
    # Measured: PPS below UNIFORM below EQ at each of these memories.
    average = Aggregate(period=500, mean=0, sd=100)
    found = sampling_errors(part * 500, inverse(2), average)
    assert found.pps_cluster < found.uniform < found.eq_cluster
    assert found.best == "pps_cluster"


def test_clusters_are_better_for_values_of_the_opposite_stream() -> None:
    for window in (inverse(1), AgeModel([1.0] * 20)):
        total = Aggregate(period=500, mean=0, sd=100, of="opposite")
        found = sampling_errors(window.demand / 10, window, total)
        assert found.pps_cluster < 0.9 * found.uniform


def test_uniform_is_better_for_own_values_in_equal_clusters() -> None:
    window = AgeModel([4, 2, 1, 1, 0, 0, 0, 0, 0, 0])
    found = sampling_errors(2, window, Aggregate(period=50, mean=0, sd=1))
    assert found.eq_cluster == found.pps_cluster > found.uniform
    assert found.best == "uniform"


def test_full_memory_leaves_what_uniform_misses() -> None:
    window = inverse(2)
    found = sampling_errors(500, window, Aggregate(period=500))
    assert found[:2] == (0, 0)
    assert uniform_missed(window) == pytest.approx(0.1496, abs=1e-4)
    exact = 500 * window.results(500)
    assert found.uniform == pytest.approx(uniform_missed(window) * exact)
    assert found.best == "eq_cluster"


def test_no_memory_says_nothing() -> None:
    found = sampling_errors(0, inverse(1), Aggregate(period=500))
    assert found == SamplingErrors(math.inf, math.inf, math.inf)


def test_no_results_are_known_exactly() -> None:
    nothing = FrequencyModel([0.5, 0.5], [0, 0], 10)
    assert sampling_errors(1, nothing, Aggregate(period=5)) == (0, 0, 0)
    assert uniform_missed(nothing) == 0


@given(windows, fractions, fractions, st.sampled_from(["own", "opposite"]))
def test_variance_falls_with_the_fraction(
    window: Window, a: float, b: float, of: Stream
) -> None:
    low, high = sorted((a, b))
    total = Aggregate(period=10, mean=-2, sd=1, of=of)
    for variance in (cluster_variance, uniform_variance):
        assert variance(high, window, total) <= variance(low, window, total)
        assert variance(1, window, total) == 0


@given(windows, fractions)
def test_coins_vary_less_than_clusters(window: Window, fraction: float) -> None:
    count = Aggregate(period=10)
    single = uniform_variance(fraction, window, count)
    assert single <= cluster_variance(fraction, window, count) + 1e-9
    assert 0 <= uniform_missed(window) <= 1


def test_ties_go_to_the_scheme_that_asks_least() -> None:
    assert SamplingErrors(1, 1, 1).best == "eq_cluster"
    assert SamplingErrors(2, 1, 1).best == "pps_cluster"


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Aggregate(period=0),
        lambda: Aggregate(period=1, mean=math.nan),
        lambda: Aggregate(period=1, sd=-1),
        lambda: Aggregate(period=1, of="left"),  # type: ignore[arg-type]
        lambda: cluster_variance(1.2, WINDOW, Aggregate(1)),
        lambda: cluster_variance(np.ones(2), WINDOW, Aggregate(1)),
        lambda: uniform_variance(-0.1, WINDOW, Aggregate(1)),
        lambda: sampling_errors(-1, WINDOW, Aggregate(1)),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
