"""Jain's index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.quality import jain


@pytest.mark.parametrize(
    ("lifetimes", "fairness"),
    [
        ([5, 5, 5, 0], 0.75),
        ([1, 2, 3], 0.857143),
        ([7], 1),
        ([0, 0], 1),
        ([], 1),
        ([1e300, 1e300, 0, 0], 0.5),
        ([5e-324, 0], 0.5),
    ],
)
def test_known_values(lifetimes: list[float], fairness: float) -> None:
    assert jain(lifetimes) == pytest.approx(fairness, abs=1e-6)


def test_one_fifth_of_all_arrivals_live_a_whole_window() -> None:
    assert jain(np.repeat([25, 0], [100, 400])) == pytest.approx(0.2)


@given(st.lists(st.integers(0, 10**15), min_size=1), st.integers(1, 1000))
def test_bounds_and_unit(lifetimes: list[int], unit: int) -> None:
    fairness = jain(lifetimes)
    assert 1 / len(lifetimes) - 1e-9 <= fairness <= 1 + 1e-9
    assert jain([unit * value for value in lifetimes]) == pytest.approx(fairness)


@pytest.mark.parametrize("bad", [[-1], [float("nan")], [float("inf"), 1]])
def test_bad_values(bad: list[float]) -> None:
    with pytest.raises(ParameterError, match="Fix: pass how long"):
        jain(bad)
