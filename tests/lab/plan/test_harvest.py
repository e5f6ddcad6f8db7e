"""The model of window harvesting: reference numbers, chances, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    Harvest,
    HarvestLoad,
    flat_scores,
    greedy_harvest,
    harvest_by_chance,
    join_orders,
    predicted_harvest,
    random_drop,
    selected_windows,
    whole_harvest,
)
from shedjoin.plan.harvest_direction import Yield

from .harvests import FLAT, ORDERS, SELECTIVITIES, anything, evaluated, lagged

SEEDS = range(40)


def test_the_whole_join() -> None:
    assert (FLAT.work, FLAT.results) == pytest.approx((26000, 210))
    assert whole_harvest(FLAT) == predicted_harvest(FLAT, [[2, 2]] * 3)
    assert whole_harvest(FLAT).recall == 1.0


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (0, [(2500, 30), (4000, 60), (5000, 60), (8000, 120)]),
        (1, [(3750, 7.5), (4500, 15), (7500, 15), (9000, 30)]),
        (2, [(3750, 15), (4500, 30), (7500, 30), (9000, 60)]),
    ],
)
def test_one_direction(direction: int, expected: list[tuple[float, float]]) -> None:
    for hops, (work, results) in zip(
        ([1, 1], [1, 2], [2, 1], [2, 2]), expected, strict=True
    ):
        counts = [[0, 0], [0, 0], [0, 0]]
        counts[direction] = hops
        found = predicted_harvest(FLAT, counts)
        assert (found.work, found.results) == pytest.approx((work, results))


def test_lags_of_the_reference_load() -> None:
    load = lagged(normalise=True)
    assert (load.work, load.results) == pytest.approx((1_500_000, 1575))
    assert load.scores[2][1] == pytest.approx(
        [0.520500, 0.222803, 0.016744, 0.000203, 0], abs=5e-7
    )
    assert load.scores[2][0] == pytest.approx(
        [0.001350, 0.157305, 0.682689, 0.157305, 0.001350], abs=5e-7
    )


def test_the_paper_cannot_see_that_a_direction_yields_nothing() -> None:
    first = [[5, 5], [0, 0], [0, 0]]
    assert predicted_harvest(lagged(normalise=True), first).results > 500
    assert predicted_harvest(lagged(normalise=False), first).results < 1e-5


def test_selectivities_by_direction_see_it_too() -> None:
    measured = [[0.0] * 3, *SELECTIVITIES[1:]]
    scores = flat_scores([2, 2, 2])
    load = HarvestLoad([10, 20, 30], [10] * 3, ORDERS, measured, scores, normalise=True)
    assert predicted_harvest(load, [[2, 2], [0, 0], [0, 0]]).results == 0
    assert load.results == pytest.approx(90)


def test_results_cost_work() -> None:
    costly = HarvestLoad(
        [10, 20, 30],
        [10, 10, 10],
        ORDERS,
        SELECTIVITIES,
        flat_scores([2, 2, 2]),
        result_cost=50,
    )
    assert costly.results == FLAT.results
    assert costly.work == pytest.approx(26000 + 50 * 210)


def test_the_basic_windows_of_figure_3() -> None:
    # Ranks 4, 3, 5 of the third window and 3, 2 of the second, counted from 1.
    third, second = [0.1, 0.05, 0.25, 0.4, 0.2], [0.1, 0.3, 0.4, 0.1, 0.1]
    flat = [0.2] * 5
    load = HarvestLoad(
        [1, 1, 1],
        [10, 10, 10],
        [[2, 1], [0, 2], [0, 1]],
        np.full((3, 3), 0.1).tolist(),
        [[[], second, third], [flat, [], flat], [flat, flat, []]],
    )
    found = predicted_harvest(load, [[3, 2], [0, 0], [1, 1]])
    assert selected_windows(load, found) == (
        ((2, 3, 4), (1, 2)),
        ((), ()),
        ((0,), (0,)),
    )


def test_the_lowest_selectivity_first() -> None:
    assert join_orders(SELECTIVITIES) == ((1, 2), (2, 0), (1, 0))
    assert join_orders([[0.0] * 3] * 3) == ((1, 2), (0, 2), (0, 1))


@pytest.mark.parametrize("streams", [2, 3, 4])
def test_results_and_work_by_their_definitions(streams: int) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng([streams, seed])
        load = anything(rng, streams, 5)
        counts = [
            rng.integers(0, np.array(direction.whole) + 1).tolist()
            for direction in load.directions
        ]
        found = predicted_harvest(load, counts)
        assert [found.results, found.work] == pytest.approx(evaluated(load, counts))


@pytest.mark.parametrize("streams", [2, 3, 4])
@pytest.mark.parametrize("by", [1, -1])
def test_steps_are_differences(streams: int, by: int) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng([streams, seed])
        load = anything(rng, streams, 5)
        counts = [
            rng.integers(1, np.array(direction.whole) + 1).tolist()
            for direction in load.directions
        ]
        before = evaluated(load, counts)
        for i, direction in enumerate(load.directions):
            for hop, step in enumerate(direction.steps(counts[i], by)):
                changed = [list(hops) for hops in counts]
                changed[i][hop] += by
                if not 0 < changed[i][hop] <= direction.whole[hop]:
                    assert step == Yield(0.0, math.inf)
                    continue
                after = evaluated(load, changed)
                difference = [by * (x - y) for x, y in zip(after, before, strict=True)]
                # Sums over all directions lose digits that a step does not.
                assert list(step) == pytest.approx(
                    difference, rel=1e-6, abs=1e-9 * before[1]
                )


@pytest.mark.parametrize("streams", [2, 3])
def test_chance_takes_the_most_results_for_the_work(streams: int) -> None:
    for seed in SEEDS:
        load = anything(np.random.default_rng([streams, seed]), streams, 4)
        work = 1e-6 * load.work
        found = harvest_by_chance(work, load)
        most = 0.0
        for i, direction in enumerate(load.directions):
            for hops in np.ndindex(*direction.whole):
                counts = [[0] * (streams - 1) for _ in range(streams)]
                counts[i] = [hop + 1 for hop in hops]
                results, cost = evaluated(load, counts)
                most = max(most, results / cost if cost else 0.0)
        assert found.results == pytest.approx(most * work)
        assert found.work == pytest.approx(work if most > 0 else 0)


def test_chance_is_certain_with_enough_work() -> None:
    found = harvest_by_chance(1e9, FLAT)
    assert found.chance == 1.0
    assert found.results / found.work == pytest.approx(0.015)


def test_no_work_yields_nothing() -> None:
    found = harvest_by_chance(0, FLAT)
    assert (found.chance, found.results, found.work) == (0, 0, 0)


def test_a_join_without_results() -> None:
    load = HarvestLoad(
        [0, 1], [1, 1], [[1], [0]], [[0, 1], [1, 0]], flat_scores([2, 2])
    )
    assert (load.work, load.results) == (0, 0)
    assert harvest_by_chance(1, load) == Harvest(((0,), (0,)), 1.0, 0.0, 0.0, 1.0)


def test_what_is_passed_may_change_later() -> None:
    order, scores = [1], np.array([0.4, 0.6])
    load = HarvestLoad(
        [1, 1], [1, 1], [order, [0]], [[0, 1], [1, 0]], [[[], scores], [scores, []]]
    )
    order[0], scores[:] = 7, (1.0, 0.0)
    assert load.orders == ((1,), (0,))
    found = predicted_harvest(load, [[1], [1]])
    assert selected_windows(load, found) == (((1,),), ((1,),))
    assert found.results == pytest.approx(1.2)


GOOD: dict[str, Any] = {
    "rates": [10, 20, 30],
    "windows": [10, 10, 10],
    "orders": ORDERS,
    "selectivities": SELECTIVITIES,
    "scores": flat_scores([2, 2, 2]),
}
FLAT_BUT = [
    [[], [0.5, 0.5], [1]],
    [[0.5, 0.5], [], [0.5, 0.5]],
    [[1, 1], [0.5] * 2, []],
]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("rates", [10], "one stream"),
        ("rates", [], "rates is not a list"),
        ("rates", [10, -1, 30], "rates is not a list"),
        ("rates", [10, math.nan, 30], "rates is not a list"),
        ("rates", [10, math.inf, 30], "rates is not a list"),
        ("rates", [1e200, 1e200, 1e200], "more work than a number can hold"),
        ("windows", [10, 10], "windows has 2 entries for 3 streams"),
        ("windows", [10, -10, 10], "windows is not a list"),
        ("orders", [[1, 2], [2, 0]], "orders has 2 entries"),
        ("orders", [[1, 2], [2, 1], [1, 0]], r"orders\[1\]=\[2, 1\] is not an order"),
        ("orders", [[1], [2, 0], [1, 0]], r"orders\[0\]=\[1\] is not an order"),
        ("selectivities", [[0, 1, 1]] * 2, "selectivities has 2 entries"),
        ("selectivities", [[0, 1]] * 3, r"selectivities\[0\] has 2 entries"),
        ("selectivities", [[0, 1.5, 1]] * 3, r"selectivities\[0\]\[1\]=1.5"),
        ("selectivities", [[0, math.nan, 1]] * 3, r"selectivities\[0\]\[1\]=nan"),
        ("scores", flat_scores([2, 2]), "scores has 2 entries"),
        ("scores", [[[], [0.5]]] * 3, r"scores\[0\] has 2 entries"),
        ("scores", [[[], [], []]] * 3, r"scores\[0\]\[1\] is not a list"),
        ("scores", [[[], [0.5, -0.5], [1]]] * 3, r"scores\[0\]\[1\] is not a list"),
        ("scores", [[[], [0.5, math.nan], [1]]] * 3, r"scores\[0\]\[1\] is not a list"),
        ("scores", [[[1], [0.9, 0.9], [1]]] * 3, r"scores\[0\]\[1\] sum to 1.8"),
        ("scores", FLAT_BUT, r"scores\[1\]\[2\] has 2 basic windows and"),
        ("result_cost", -1, "result_cost=-1"),
        ("result_cost", math.nan, "result_cost=nan"),
    ],
)
def test_loads_that_are_refused(name: str, value: object, says: str) -> None:
    with pytest.raises(ParameterError, match=says) as refusal:
        HarvestLoad(**GOOD | {name: value})
    assert "Fix:" in str(refusal.value)


def test_scores_in_another_unit() -> None:
    scores = [[[3, 1]] * 3] * 3
    load = HarvestLoad(**GOOD | {"scores": scores}, normalise=True)
    assert load.results == pytest.approx(210)


def test_scores_without_a_sum() -> None:
    with pytest.raises(ParameterError, match="sum to inf"):
        HarvestLoad(**GOOD | {"scores": [[[1e308] * 2] * 3] * 3}, normalise=True)


def test_scores_of_zero() -> None:
    for normalise in (True, False):
        load = HarvestLoad(**GOOD | {"scores": [[[0, 0]] * 3] * 3}, normalise=normalise)
        assert load.results == 0
        assert load.work > 0


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([[1, 1]] * 2, "is not for 3 directions"),
        ([[1, 1], [1], [1, 1]], r"counts\[1\]=\(1,\)"),
        ([[1, 1], [1, 3], [1, 1]], r"counts\[1\]=\(1, 3\)"),
        ([[1, -1], [1, 1], [1, 1]], r"counts\[0\]=\(1, -1\)"),
        ([[1, 0.5], [1, 1], [1, 1]], r"counts\[0\]=\(1, 0.5\)"),
    ],
)
def test_counts_that_are_refused(counts: list[list[int]], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        predicted_harvest(FLAT, counts)


def test_chances_that_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"chance=1\.5 is not a share"):
        predicted_harvest(FLAT, [[1, 1]] * 3, chance=1.5)


@pytest.mark.parametrize("work", [-1.0, math.nan, math.inf])
def test_work_that_is_refused(work: float) -> None:
    with pytest.raises(ParameterError, match="work="):
        harvest_by_chance(work, FLAT)


def test_a_load_as_it_was_measured() -> None:
    """Told what each direction yields, it is the same load."""
    told = HarvestLoad.measured(FLAT.directions, FLAT.orders)
    assert (told.results, told.work) == (FLAT.results, FLAT.work)
    work = 0.5 * told.work
    assert greedy_harvest(work, told) == greedy_harvest(work, FLAT)
    assert random_drop(work, told) == random_drop(work, FLAT)
