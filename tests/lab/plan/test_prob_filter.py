"""PROB as a filter: the reference numbers, and a plain step-by-step admission."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import Costs, ValueLoad, online_max_subset, prob_filter

from .overload import INVERSE, TINY, TINY_COSTS, loads, prices

COSTS = Costs(0.004, 0.0005)


@pytest.mark.parametrize(
    ("work", "results"), [(0.5, 21.429), (0.8, 47.143), (1.0, 64.286)]
)
def test_the_tiny_join(work: float, results: float) -> None:
    found = prob_filter(work, TINY, costs=TINY_COSTS)
    assert found.results == pytest.approx(results, abs=5e-4)
    assert found.work == pytest.approx(work)
    assert found.results < online_max_subset(work, TINY, costs=TINY_COSTS).results


def test_a_quarter_of_the_work_on_inverse_frequencies() -> None:
    work = INVERSE.work(COSTS).sum() / 4
    found = prob_filter(work, INVERSE, costs=COSTS)
    assert found.results == pytest.approx(378, abs=0.5)
    assert found.work == pytest.approx(work)


@given(loads, prices, st.floats(0, 200))
def test_admission_step_by_step(load: ValueLoad, costs: Costs, work: float) -> None:
    found = prob_filter(work, load, costs=costs)
    left, right = admitted_one_by_one(load, costs, work)
    assert found.left == pytest.approx(left, abs=1e-9)
    assert found.right == pytest.approx(right, abs=1e-9)
    whole = zip(left, right, load.results, strict=True)
    results = sum(a * b * most for a, b, most in whole)
    assert found.results == pytest.approx(results, abs=1e-6)
    assert found.work <= work * (1 + 1e-9) + 1e-9


def admitted_one_by_one(
    load: ValueLoad, costs: Costs, work: float
) -> tuple[list[float], list[float]]:
    """Chances of both streams: the frequent partners first, until the work is used."""
    rates = [list(load.left), list(load.right)]
    chances = [[0.0] * len(load.left) for _ in rates]
    items = [(stream, value) for stream in (0, 1) for value in range(len(load.left))]
    windows = load.left_window + load.right_window
    spent, full = 0.0, False
    for stream, value in sorted(items, key=lambda item: -rates[1 - item[0]][item[1]]):
        mine, other = rates[stream][value], rates[1 - stream][value]
        matches = mine * other * chances[1 - stream][value] * windows
        needed = mine * costs.update + matches * costs.match
        if needed == 0:
            chances[stream][value] = 1.0
        elif not full:
            chances[stream][value] = min(1.0, (work - spent) / needed)
            full = spent + needed > work * (1 + 1e-12)
            spent += needed
    return chances[0], chances[1]


def test_all_of_the_work() -> None:
    found = prob_filter(TINY.work(TINY_COSTS).sum(), TINY, costs=TINY_COSTS)
    assert found.left.tolist() == found.right.tolist() == [1, 1, 1]
    assert found.results == pytest.approx(TINY.results.sum())


@pytest.mark.parametrize("work", [-1, math.nan])
def test_bad_work(work: float) -> None:
    with pytest.raises(ParameterError, match=r"work=.*\nFix: "):
        prob_filter(work, TINY, costs=TINY_COSTS)
