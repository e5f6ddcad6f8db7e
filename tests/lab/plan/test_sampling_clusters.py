"""Inclusion probabilities of cluster sampling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import AgeModel, FrequencyModel, eq_fraction, pps_inclusion

from .figures import inverse
from .test_sampling import frequency_models


def test_equal_clusters() -> None:
    window = AgeModel([1, 1, 2, 1], rate=2)
    assert [eq_fraction(memory, window) for memory in (0, 2, 8, 9)] == [0, 0.25, 1, 1]
    assert eq_fraction(4, window, window) == 0.25
    assert eq_fraction(50, inverse(1)) == pytest.approx(0.1)


def test_no_demand_is_met() -> None:
    assert eq_fraction(0, FrequencyModel([0.0], [1.0], 10)) == 1


def test_proportional_to_size() -> None:
    scale, probability = pps_inclusion(50, inverse(1))
    assert scale == pytest.approx(12.599418, abs=1e-6)
    assert probability[:2].tolist() == [1, 1]
    assert (probability[2:] < 1).all()
    used = 500 * np.asarray(inverse(1).own) @ probability
    assert used == pytest.approx(50)


def test_without_the_cap_memory_is_left_over() -> None:
    window = inverse(2)
    own, opposite = np.asarray(window.own), np.asarray(window.opposite)
    printed = 0.1 / (own @ opposite)
    assert own @ np.minimum(1, printed * opposite) == pytest.approx(0.056, abs=0.0005)
    assert own @ pps_inclusion(50, window).probability == pytest.approx(0.1)


def test_equal_sizes_make_it_eq_cluster() -> None:
    window = FrequencyModel([0.5, 0.3, 0.2], [0.2, 0.2, 0.2], window=100)
    found = pps_inclusion(25, window).probability
    assert found == pytest.approx([eq_fraction(25, window)] * 3)


def test_values_without_a_match_come_last() -> None:
    window = FrequencyModel([0.6, 0.4], [0, 0.5], window=10)
    assert pps_inclusion(2, window).probability == pytest.approx([0, 0.5])
    assert pps_inclusion(4, window).probability == pytest.approx([0, 1])
    assert pps_inclusion(7, window).probability == pytest.approx([0.5, 1])
    nothing = FrequencyModel([0.6, 0.4], [0, 0], window=10)
    assert pps_inclusion(5, nothing).probability == pytest.approx([0.5, 0.5])


@given(frequency_models(), st.floats(0, 1.2))
def test_memory_is_used_up(window: FrequencyModel, part: float) -> None:
    memory = part * window.demand
    scale, probability = pps_inclusion(memory, window)
    stored = window.rate * window.window * np.asarray(window.own)
    assert stored @ probability == pytest.approx(min(memory, window.demand), abs=1e-9)
    opposite = np.asarray(window.opposite)
    matched = opposite > 0
    expected = np.minimum(1, scale * opposite)[matched]
    assert probability[matched] == pytest.approx(expected)


@given(frequency_models(), st.floats(0, 1), st.floats(0, 1))
def test_nobody_loses_by_more_memory(
    window: FrequencyModel, a: float, b: float
) -> None:
    less, more = sorted((a * window.demand, b * window.demand))
    low = pps_inclusion(less, window).probability
    high = pps_inclusion(more, window).probability
    assert (low <= high + 1e-9).all()


@given(frequency_models())
def test_edges(window: FrequencyModel) -> None:
    stored = np.asarray(window.own) > 0
    assert not pps_inclusion(0, window).probability[stored].any()
    full = pps_inclusion(2 * window.demand, window).probability
    assert full[stored] == pytest.approx(1)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: eq_fraction(-1, inverse(1)),
        lambda: pps_inclusion(-1, inverse(1)),
        lambda: pps_inclusion(math.nan, inverse(1)),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
