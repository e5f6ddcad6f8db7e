"""The best split of a join's memory, against all splits."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import AgeModel, FrequencyModel, JoinModel, Model, split

from .figures import decreasing, direct, increasing, inverse

curves = st.lists(st.integers(0, 9), min_size=1, max_size=6)


def by_brute_force(memory: int, left: Model, right: Model, parts: int = 1) -> float:
    """Most results over all splits into whole tuples, or parts of them."""
    return max(
        left.results(cells / parts) + right.results(memory - cells / parts)
        for cells in range(memory * parts + 1)
    )


@dataclass(frozen=True)
class Held:
    """Every tuple is held as long as memory lasts: eq. 2 without its first case."""

    curve: tuple[int, ...]

    @property
    def demand(self) -> float:
        return float(len(self.curve))

    def results(self, memory: float) -> float:
        return float(sum(self.curve[: int(memory)]))


@given(curves, curves, st.integers(0, 14))
def test_age_models(left: list[int], right: list[int], memory: int) -> None:
    models = AgeModel(left), AgeModel(right)
    found = split(memory, *models)
    assert found.left + found.right <= memory + 1e-9
    yields = models[0].results(found.left) + models[1].results(found.right)
    assert found.results == pytest.approx(yields)
    assert found.results == pytest.approx(by_brute_force(memory, *models), abs=1e-9)
    assert JoinModel(*models).results(memory) == pytest.approx(found.results)


@given(curves, curves, st.integers(0, 14))
def test_models_without_knots(left: list[int], right: list[int], memory: int) -> None:
    models = Held(tuple(left)), Held(tuple(right))
    found = split(memory, *models)
    assert found.left + found.right <= memory + 1e-9
    assert found.results == by_brute_force(memory, *models)


@pytest.mark.parametrize("memory", [1, 50, 200, 333, 700, 999])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (direct(1), inverse(1)),
        (direct(2), direct(0.5)),
        (increasing(), decreasing()),
        (FrequencyModel([0.9, 0.1], [0.5, 0.5], 500), decreasing()),
    ],
    ids=["DC IC", "DC DC", "INC DEC", "two values DEC"],
)
def test_models_of_the_figures(left: Model, right: Model, memory: int) -> None:
    best = by_brute_force(memory, left, right, parts=4)
    found = split(memory, left, right)
    assert best <= found.results + 1e-9
    assert found.results == pytest.approx(best, rel=2e-3)


def test_a_smooth_model_is_refined() -> None:
    @dataclass(frozen=True)
    class Root:
        scale: float
        demand: float = 1e6

        def results(self, memory: float) -> float:
            return float(self.scale * memory**0.5)

    found = split(10_000, Root(1.0), Root(2.0))
    assert found.left == pytest.approx(2000, rel=1e-3)  # slopes 1 to 2: 1 to 4


def test_symmetric_joins_are_split_in_the_middle() -> None:
    shares = [0.5, 0.3, 0.2]
    side = FrequencyModel(shares, shares, window=10)
    assert split(4, side, side).left == pytest.approx(2)


def test_equal_yields_are_shared_by_size() -> None:
    found = split(3, AgeModel([1] * 2), AgeModel([1] * 4))
    assert (found.left, found.right) == pytest.approx((1, 2))


def test_recall_is_that_of_the_join() -> None:
    left, right = AgeModel([4, 2], rate=2), AgeModel([1, 1], rate=3)
    assert split(4, left, right).recall == pytest.approx(12 / (2 * 6 + 3 * 2))


def test_more_than_enough() -> None:
    found = split(100, AgeModel([1, 1]), AgeModel([2]))
    assert (found.left, found.right, found.recall) == (2, 1, 1)


def test_nothing_to_find() -> None:
    found = split(1, AgeModel([0]), AgeModel([0]))
    assert (found.results, found.recall) == (0, 1)


@pytest.mark.parametrize("memory", [-1, float("nan"), float("inf")])
def test_bad_memory(memory: float) -> None:
    with pytest.raises(ParameterError, match="Fix: pass 0 or more"):
        split(memory, AgeModel([1]), AgeModel([1]))
