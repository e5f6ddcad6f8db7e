"""Scores of basic windows from histograms of lags."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import norm

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import LagHistogram, flat_scores, lag_scores, ranking

from .harvests import normal_scores


def normal_lags(mean: float, buckets: int) -> LagHistogram:
    edges = np.linspace(-10, 10, buckets + 1)
    return LagHistogram(-10, 10, np.diff(norm(mean, 1).cdf(edges)))


@pytest.mark.parametrize(
    ("buckets", "error"), [(20, 0.0344), (40, 0.0090), (100, 0.0015)]
)
def test_how_far_histograms_are_off(buckets: int, error: float) -> None:
    exact = normal_scores([0, 4, 5], [0, 1, 1], 2, 5)
    found = lag_scores(
        [normal_lags(mean, buckets) for mean in (4, 5)], width=2, counts=[5, 5, 5]
    )
    off = {
        (i, stream): np.abs(found[i][stream] - exact[i][stream]).max()
        for i, stream in permutations(range(3), 2)
    }
    assert max(off.values()) == pytest.approx(error, abs=5e-5)
    # Buckets end where basic windows do: with one histogram there is nothing to spread.
    assert max(off[0, 1], off[0, 2], off[1, 0], off[2, 0]) < 1e-6


def test_scores_are_shares_of_observed_lags() -> None:
    rng = np.random.default_rng(3)
    observed = np.array([rng.normal(mean, 1, 20_000) for mean in (1, -2)])
    lags = [
        LagHistogram(-8, 8, np.histogram(column, 160, (-8, 8))[0])
        for column in observed
    ]
    times = np.array([np.zeros(20_000), *observed])
    found = lag_scores(lags, width=2, counts=[3, 4, 2])
    for i, stream in permutations(range(3), 2):
        ages = times[i] - times[stream]
        size = found[i][stream].size
        seen = np.histogram(ages, size, (0, 2 * size))[0] / ages.size
        assert found[i][stream] == pytest.approx(seen, abs=0.01)


def test_both_directions_share_the_matches() -> None:
    lags = [normal_lags(1, 40), normal_lags(-1, 40)]
    found = lag_scores(lags, width=1, counts=[10, 10, 10])
    for i, stream in permutations(range(3), 2):
        both = found[i][stream].sum() + found[stream][i].sum()
        assert both == pytest.approx(1, abs=0.01)
        assert found[i][i].size == 0


def test_a_lag_that_is_always_the_same() -> None:
    counts = np.zeros(20)
    counts[13] = 5  # from 3 to 4
    found = lag_scores([LagHistogram(-10, 10, counts)], width=2, counts=[5, 5])
    assert found[1][0].tolist() == [0, 1, 0, 0, 0]
    assert found[0][1].tolist() == [0, 0, 0, 0, 0]


def test_flat_scores_sum_to_one() -> None:
    scores = flat_scores([3, 7, 1])
    assert [row.size for row in scores[0]] == [0, 7, 1]
    assert scores[1][0].sum() == pytest.approx(1)


def test_ranking_of_equal_scores() -> None:
    assert ranking([0.0, 0.0, 0.0]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("lowest", "highest", "counts", "says"),
    [
        (1, 1, [1], "lowest=1, highest=1 is not a range"),
        (-1, math.nan, [1], "highest=nan is not a range"),
        (-math.inf, 1, [1], "lowest=-inf"),
        (-1, 1, [], "counts is not a list"),
        (-1, 1, [1, -1], "counts is not a list"),
        (-1, 1, [1, math.nan], "counts is not a list"),
        (-1, 1, [0, 0], "counts sum to 0"),
        (-1, 1, [1e308, 1e308], "counts sum to inf"),
    ],
)
def test_histograms_that_are_refused(
    lowest: float, highest: float, counts: list[float], says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        LagHistogram(lowest, highest, counts)


@pytest.mark.parametrize(
    ("width", "counts", "says"),
    [
        (0, [5, 5], "width=0"),
        (math.nan, [5, 5], "width=nan"),
        (1, [5], "1 histograms do not fit"),
        (1, [5, 5, 5], "1 histograms do not fit"),
        (1, [5, 0], "counts has 0"),
        (1, [5, 2.5], "counts has 2.5"),
        (1, [5, math.nan], "counts has nan"),
    ],
)
def test_basic_windows_that_are_refused(
    width: float, counts: list[int], says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        lag_scores([normal_lags(0, 4)], width=width, counts=counts)
