"""Memory for several joins: the published figures, and what max-min means."""

from __future__ import annotations

from typing import Any

import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    AgeModel,
    JoinModel,
    allocate,
    memory_for,
    predicted_recall,
    proportional,
)

from .figures import decreasing, direct, increasing, inverse


@pytest.mark.parametrize(
    ("exponent", "recall", "share"),
    [
        (0, 0.500, 250),
        (0.5, 0.576, 288),
        (1, 0.623, 312),
        (2, 0.687, 343),
        (3, 0.728, 364),
        (4, 0.758, 379),
    ],
)
def test_figure_11(exponent: float, recall: float, share: float) -> None:
    joins = [increasing(exponent), decreasing(exponent)]
    found = allocate(500, joins)
    assert found.minimum == pytest.approx(recall, abs=0.0006)
    assert found.memory[0] == pytest.approx(share, abs=0.6)
    assert found.recall[0] == pytest.approx(found.recall[1])
    assert proportional(500, joins).minimum == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("skew", "best", "even", "percent"),
    [
        (0, 0.200, 0.200, 10.0),
        (0.25, 0.290, 0.282, 9.6),
        (0.5, 0.402, 0.376, 8.8),
        (0.75, 0.494, 0.469, 8.7),
        (1, 0.546, 0.544, 9.9),
        (1.5, 0.558, 0.388, 14.4),
        (2, 0.533, 0.300, 17.8),
    ],
)
def test_figure_10(skew: float, best: float, even: float, percent: float) -> None:
    joins = [direct(skew), inverse(skew)]
    found = allocate(200, joins)
    assert found.minimum == pytest.approx(best, abs=0.0006)
    assert proportional(200, joins).minimum == pytest.approx(even, abs=0.0006)
    assert found.memory[0] / 1000 * 100 == pytest.approx(percent, abs=0.06)
    assert sum(found.memory) == pytest.approx(200)


def test_no_transfer_raises_the_minimum() -> None:
    joins = [increasing(), decreasing(), direct(1)]
    found = allocate(600, joins)
    for giver in range(3):
        for taker in {0, 1, 2} - {giver}:
            moved = list(found.memory)
            moved[giver] -= 1
            moved[taker] += 1
            assert min(map(predicted_recall, joins, moved)) < found.minimum


def test_weights() -> None:
    flat = AgeModel([1] * 100)
    found = allocate(60, [flat, flat], weights=[1, 2])
    assert found.memory == pytest.approx((20, 40))


def test_an_exact_join_leaves_the_rest_to_the_others() -> None:
    flat = AgeModel([1] * 100)
    found = allocate(180, [flat, flat], weights=[1, 4])
    assert found.memory == pytest.approx((80, 100))


def test_memory_is_left_when_all_are_exact() -> None:
    found = allocate(1000, [AgeModel([1, 1]), AgeModel([2, 0])])
    assert found.memory == pytest.approx((2, 1))
    assert found.minimum == pytest.approx(1)
    assert proportional(1000, [AgeModel([1, 1]), AgeModel([2, 0])]).memory == (2, 2)


def test_joins_with_nothing_to_find_get_nothing() -> None:
    found = allocate(1, [AgeModel([0, 0]), AgeModel([1, 1])])
    assert found.memory == pytest.approx((0, 1))


def test_no_memory() -> None:
    assert allocate(0, [AgeModel([1]), AgeModel([1])]).recall == (0, 0)


def test_joins_with_two_windows() -> None:
    joins = [JoinModel(direct(1), direct(1)), JoinModel(increasing(), decreasing())]
    found = allocate(500, joins)
    assert sum(found.memory) == pytest.approx(500)
    assert found.recall[0] == pytest.approx(found.recall[1])


@pytest.mark.parametrize("recall", [0, 0.1, 0.5, 0.9, 1])
@pytest.mark.parametrize("model", [increasing(), decreasing(), inverse(2)])
def test_least_memory_for_a_recall(model: AgeModel, recall: float) -> None:
    memory = memory_for(model, recall)
    assert predicted_recall(model, memory) == pytest.approx(recall)
    if recall > 0:
        assert predicted_recall(model, memory - 0.01) < recall


@pytest.mark.parametrize(
    "bad",
    [
        lambda: allocate(1, []),
        lambda: allocate(-1, [AgeModel([1])]),
        lambda: allocate(1, [AgeModel([1])], weights=[1, 1]),
        lambda: allocate(1, [AgeModel([1])], weights=[0]),
        lambda: proportional(float("nan"), [AgeModel([1])]),
        lambda: proportional(1, []),
        lambda: memory_for(AgeModel([1]), 1.5),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
