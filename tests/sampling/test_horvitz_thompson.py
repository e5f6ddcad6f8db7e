"""The variance formulas on simulated samples, without an engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from shedjoin.sampling.horvitz_thompson import (
    TRUSTED_FROM,
    ClusterSums,
    contribution,
    covariance,
    evaluate,
    squared,
)
from shedjoin.sampling.student import log_quantile
from shedjoin.types import FloatArray

DRAWS = 4000
CLUSTERS = 60
ROWS = 5


class Sample(NamedTuple):
    """Samples of one population: an axis for draws, one for clusters, one for rows."""

    weights: FloatArray
    kept: FloatArray

    def sums(self, y: FloatArray) -> ClusterSums[FloatArray]:
        """Sums of a quantity over the rows that a cluster has in the sample."""
        there = self.kept * y
        weighted, rooted = self.weights * there, np.sqrt(self.weights) * there
        return ClusterSums(weighted.sum(2), rooted.sum(2))


def draw(rng: np.random.Generator, *, growing: bool) -> Sample:
    """Toss one coin per cluster: it is in as long as the coin lies below 1 / weight."""
    first = rng.uniform(1, 8, (CLUSTERS, 1))
    growth = rng.uniform(0, 1, (CLUSTERS, ROWS)).cumsum(1) if growing else 0.0
    weights = first + growth + np.zeros((CLUSTERS, ROWS))
    coins = rng.random((DRAWS, CLUSTERS, 1))
    return Sample(weights, (coins < 1 / weights).astype(np.float64))


def exact_variance(weights: FloatArray, y: FloatArray) -> float:
    """Variance of the estimated total, by its definition over pairs of rows."""
    share = 1 / weights
    both = np.minimum(share[:, :, None], share[:, None, :])
    pairs = both * weights[:, :, None] * weights[:, None, :] - 1
    return float((pairs * y[:, :, None] * y[:, None, :]).sum())


def test_equal_weights_are_unbiased(rng: np.random.Generator) -> None:
    sample = draw(rng, growing=False)
    y = rng.normal(1, 2, (CLUSTERS, ROWS))  # of both signs
    found = sample.sums(y)
    variance = covariance(found, found).sum(1)
    exact = exact_variance(sample.weights, y)
    noise = 4 * variance.std() / np.sqrt(DRAWS)
    assert abs(variance.mean() - exact) < noise < 0.1 * exact
    totals = found.weighted.sum(1)
    assert abs(totals.mean() - y.sum()) < 4 * np.sqrt(exact / DRAWS)


def test_growing_weights_err_to_the_safe_side(rng: np.random.Generator) -> None:
    sample = draw(rng, growing=True)
    y = rng.lognormal(0, 1, (CLUSTERS, ROWS))
    found = sample.sums(y)
    variance = covariance(found, found).sum(1)
    exact = exact_variance(sample.weights, y)
    noise = 4 * variance.std() / np.sqrt(DRAWS)
    assert exact - noise < variance.mean() < 1.25 * exact
    totals = found.weighted.sum(1)
    assert abs(totals.mean() - y.sum()) < 4 * np.sqrt(exact / DRAWS)
    # Not only on average: never below the unbiased estimate from the same sample.
    w, there = sample.weights, sample.kept * y
    larger = np.maximum(w[:, :, None], w[:, None, :])
    pairs = w[:, :, None] * w[:, None, :] - larger
    unbiased = np.einsum("dci,cij,dcj->d", there, pairs, there)
    assert (variance >= unbiased * (1 - 1e-9)).all()


def test_ratio(rng: np.random.Generator) -> None:
    sample = draw(rng, growing=False)
    size = rng.uniform(0, 2, (CLUSTERS, ROWS))
    y = 3 * size + rng.normal(0, 1, (CLUSTERS, ROWS))
    above, below = sample.sums(y), sample.sums(size)
    totals = below.weighted.sum(1)
    ratio = above.weighted.sum(1) / totals
    spread = evaluate([c.sum(1) for c in contribution(above, below)], ratio)
    first = Sample(sample.weights, sample.kept[:1]).sums(y - ratio[0] * size)
    assert spread[0] == pytest.approx(covariance(first, first).sum())
    estimated = (spread / totals**2).mean()
    assert estimated == pytest.approx(ratio.var(), rel=0.15)


def test_the_square_of_a_contribution(rng: np.random.Generator) -> None:
    sums = [ClusterSums(*rng.normal(size=(2, 9))) for _ in range(2)]
    terms = contribution(*sums)
    at = np.float64(1.7)
    assert evaluate(squared(terms), at) == pytest.approx(evaluate(terms, at) ** 2)


def test_trusted_intervals_hold_what_they_say(rng: np.random.Generator) -> None:
    """Skewed clusters, each kept with probability 0.1 or 0.3."""
    held = []
    coefficients = log_quantile(0.95)[::-1]
    for _ in range(3000):
        y = rng.lognormal(0, rng.choice([0.3, 1.0, 1.5]), rng.integers(50, 1500))
        weight = 1 / rng.choice([0.1, 0.3])
        kept = y[rng.random(y.size) < 1 / weight]
        sums = ClusterSums(weight * kept, np.sqrt(weight) * kept)
        (variance,) = contribution(sums)
        effective = variance.sum() ** 2 / np.square(variance).sum()
        if effective >= TRUSTED_FROM:
            quantile = np.exp(np.polyval(coefficients, 1 / effective))
            half = quantile * np.sqrt(variance.sum())
            held.append(abs(sums.weighted.sum() - y.sum()) <= half)
    assert len(held) > 1000
    assert np.mean(held) > 0.93
