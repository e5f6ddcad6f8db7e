"""Predicted recall: the published examples, and the best there is by brute force."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    AgeModel,
    ConcaveModel,
    FrequencyModel,
    has_minima,
    k_opt,
    predicted_recall,
    priorities,
)

from .exhaustive import best_rate, by_priority
from .figures import bell, decreasing, direct, increasing, inverse

EXAMPLE = [1, 1, 2, 1]
EXAMPLE_WITH_MINIMUM = [3, 0, 2]


def results(model: ConcaveModel, *memory: float) -> list[float]:
    return [model.results(tuples) for tuples in memory]


def test_best_age() -> None:
    assert k_opt(EXAMPLE) == 3
    assert k_opt(EXAMPLE_WITH_MINIMUM) == 1
    assert k_opt(bell().curve) == 325
    assert k_opt(increasing().curve) == 500


def test_best_age_is_the_least_of_equals() -> None:
    assert k_opt(decreasing().curve) == 1
    assert k_opt([0.1] * 300) == 1
    assert k_opt([0, 0]) == 1


def test_equation_2() -> None:
    found = results(AgeModel(EXAMPLE), 0, 1, 2, 3, 4, 5)
    assert found == pytest.approx([0, 4 / 3, 8 / 3, 4, 5, 5])


def test_equation_3() -> None:
    found = results(AgeModel(EXAMPLE, rate=2), 4, 7, 8)
    assert found == pytest.approx([16 / 3, 9, 10])


def test_priorities() -> None:
    assert priorities(EXAMPLE_WITH_MINIMUM).tolist() == [3, 1, 2]
    assert priorities(EXAMPLE) == pytest.approx([4 / 3, 1.5, 2, 1])


def test_priority_rule_on_the_published_examples() -> None:
    example = priorities(EXAMPLE).tolist()
    holds, found = by_priority(EXAMPLE, example, 1, 8)
    assert holds == [[1], [1], [1], [4], [4], [4], [7], [7]]
    assert found == [1, 1, 2, 1, 1, 2, 1, 1]
    holds, found = by_priority(EXAMPLE, example, 2, 8)
    assert holds == [[1], [1, 2], [1, 2], [2, 4], [4, 5], [4, 5], [5, 7], [7, 8]]
    assert found == [1, 2, 3, 3, 2, 3, 3, 2]
    minimum = priorities(EXAMPLE_WITH_MINIMUM).tolist()
    holds, found = by_priority(EXAMPLE_WITH_MINIMUM, minimum, 2, 8)
    assert holds == [[1], [1, 2], [1, 3], [3, 4], [3, 5], [5, 6], [5, 7], [7, 8]]
    assert found == [3, 3, 5, 3, 5, 3, 5, 3]


def test_a_curve_with_a_minimum() -> None:
    assert best_rate(EXAMPLE_WITH_MINIMUM, 2) == 4
    assert AgeModel(EXAMPLE_WITH_MINIMUM).results(2) == 4


def test_equation_2_is_the_best_there_is() -> None:
    coin = random.Random(5)
    tried = 0
    while tried < 60:
        curve = [coin.randrange(6) for _ in range(coin.randint(3, 5))]
        if has_minima(curve) or not any(curve):
            continue
        memory = coin.randint(1, len(curve))
        predicted = AgeModel(curve).results(memory)
        assert predicted == pytest.approx(float(best_rate(curve, memory))), curve
        tried += 1


def test_with_minima_the_model_bounds_every_way_to_shed() -> None:
    coin = random.Random(6)
    tried = 0
    while tried < 40:
        curve = [coin.randrange(6) for _ in range(coin.randint(3, 5))]
        if not has_minima(curve):
            continue
        memory = coin.randint(1, len(curve))
        predicted = AgeModel(curve).results(memory)
        best = float(best_rate(curve, memory))
        assert best <= predicted + 1e-9
        _, found = by_priority(curve, priorities(curve).tolist(), memory, 1100)
        assert sum(found[100:]) / 1000 == pytest.approx(best, rel=0.02)
        tried += 1


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([1], False),
        ([2, 2, 2], False),
        ([1, 3, 3, 2], False),
        ([3, 2, 2, 1], False),
        ([2, 1, 1, 2], True),
        ([1, 2, 1, 2], True),
    ],
)
def test_minima(curve: list[float], expected: bool) -> None:
    assert has_minima(curve) is expected


@pytest.mark.parametrize(
    ("model", "published"),
    [
        (increasing(), [0.100, 0.298, 0.496, 0.695, 0.895]),
        (decreasing(), [0.281, 0.667, 0.886, 0.976, 1.0]),
        (bell(), [0.129, 0.392, 0.664, 0.919, 0.998]),
    ],
    ids=["INC", "DEC", "BELL"],
)
def test_figure_7(model: AgeModel, published: list[float]) -> None:
    found = [predicted_recall(model, 5 * part) for part in (10, 30, 50, 70, 90)]
    assert found == pytest.approx(published, abs=0.01)


@pytest.mark.parametrize(
    ("model", "recall"),
    [
        (direct(1), 0.554),
        (direct(2), 0.300),
        (inverse(1), 0.544),
        (inverse(2), 0.620),
        (direct(0.5), 0.437),
        (inverse(0.5), 0.376),
    ],
    ids=["DC 1", "DC 2", "IC 1", "IC 2", "DC .5", "IC .5"],
)
def test_prob_with_the_fractional_value(model: FrequencyModel, recall: float) -> None:
    assert predicted_recall(model, 100) == pytest.approx(recall, abs=0.0006)


def test_frequency_model_in_full() -> None:
    model = FrequencyModel([0.5, 0.5], [0.75, 0.25], 10, rate=1, opposite_rate=2)
    assert model.demand == 10
    assert results(model, 0, 2, 5, 7, 10, 99) == pytest.approx([0, 3, 7.5, 8.5, 10, 10])


def test_values_that_match_nothing_need_no_memory() -> None:
    model = FrequencyModel([0.6, 0.3], [0, 0.5], window=10)
    assert predicted_recall(model, 3) == 1


def test_recall_of_nothing_is_one() -> None:
    assert predicted_recall(AgeModel([0, 0]), 0) == 1


@pytest.mark.parametrize("model", [bell(), direct(1)], ids=["age", "frequency"])
def test_returns_fall(model: ConcaveModel) -> None:
    memory = np.linspace(0, model.demand, 301)
    gains = np.diff([model.results(tuples) for tuples in memory])
    assert (gains >= -1e-9).all()
    assert (np.diff(gains) <= 1e-9).all()


def test_models_are_values() -> None:
    model = AgeModel(np.array([1.0, 2.0]), rate=2)
    assert model == AgeModel([1, 2], rate=2)
    assert eval(repr(model)) == model  # noqa: S307
    copy = pickle.loads(pickle.dumps(model))
    assert (copy, copy.results(3)) == (model, model.results(3))
    assert hash(model) == hash(copy)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: AgeModel([]),
        lambda: AgeModel([1, -1]),
        lambda: AgeModel([1, float("nan")]),
        lambda: AgeModel([1], rate=0),
        lambda: AgeModel([1]).results(-1),
        lambda: AgeModel([1]).results(float("nan")),
        lambda: FrequencyModel([1], [0.5, 0.5], 10),
        lambda: FrequencyModel([0.7, 0.7], [0.5, 0.5], 10),
        lambda: FrequencyModel([1], [1], 0),
        lambda: FrequencyModel([1], [1], 1, opposite_rate=float("inf")),
        lambda: k_opt([]),
        lambda: priorities([-1]),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
