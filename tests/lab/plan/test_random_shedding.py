"""Random shedding under a CPU limit: the reference numbers, and the best there is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    Costs,
    JoinLoad,
    RandomShedding,
    coin_flip,
    insert_no_probe,
    predicted_shedding,
    probe_no_insert,
)
from shedjoin.plan.predicted_shedding import Scheme

from .overload import SETTINGS, Setting, overloaded

LOAD, COSTS = SETTINGS["A"]

BEST = {
    "coin_flip": coin_flip,
    "insert_no_probe": insert_no_probe,
    "probe_no_insert": probe_no_insert,
}

numbers = st.one_of(st.just(0.0), st.floats(0.01, 100))
settings = st.builds(
    Setting,
    st.builds(JoinLoad, st.floats(0, 1), numbers, numbers, numbers, numbers),
    st.builds(Costs, numbers, numbers),
)


def best(scheme: str, name: str) -> tuple[float, float, float]:
    load, costs = SETTINGS[name]
    found = BEST[scheme](1, load, costs=costs)
    assert found.work == pytest.approx(min(1, load.work(costs)))
    assert found.recall == pytest.approx(found.results / load.results)
    return found.results, found.left, found.right


@pytest.mark.parametrize(
    ("name", "results", "work"),
    [
        ("A", 2000, 1.2),
        ("B", 2000, 1.8),
        ("C", 2000, 1.5),
        ("D", 1250, 1.85),
        ("E", 100, 2.4),
        ("F", 100, 0.15),
    ],
)
def test_the_full_join(name: str, results: float, work: float) -> None:
    load, costs = SETTINGS[name]
    assert (load.results, load.work(costs)) == pytest.approx((results, work))


@pytest.mark.parametrize(
    ("name", "results", "left", "right"),
    [
        ("A", 1638.0049751551642, 0.904987562112089, 0.904987562112089),
        ("B", 916.7472617169587, 0.6770329614269008, 0.6770329614269008),
        ("C", 1285.714285714286, 0.6428571428571429, 1.0),
        ("D", 588.3598286660689, 0.6860669522232179, 0.6860669522232179),
        ("E", 37.7171431429143, 0.614142842854285, 0.614142842854285),
        ("F", 100, 1, 1),
    ],
)
def test_coin_flip(name: str, results: float, left: float, right: float) -> None:
    assert best("coin_flip", name) == pytest.approx((results, left, right))


@pytest.mark.parametrize(
    ("name", "results", "chance"),
    [
        ("A", 1600, 0.8),
        ("B", 400, 0.2),
        ("C", 1000, 0.5),
        ("D", 400, 0.32),
        ("E", 30, 0.3),
        ("F", 100, 1),
    ],
)
def test_insert_no_probe(name: str, results: float, chance: float) -> None:
    assert best("insert_no_probe", name) == pytest.approx((results, chance, chance))


@pytest.mark.parametrize(
    ("name", "results", "left", "right"),
    [
        ("A", 1666.6666666666667, 1, 2 / 3),
        ("B", 1111.111111111111, 1, 1 / 9),
        ("C", 1444.4444444444443, 4 / 9, 1),
        ("D", 769.2307692307692, 10 / 13, 0),
        ("E", 41.66666666666667, 5 / 6, 0),
        ("F", 100, 1, 1),
    ],
)
def test_probe_no_insert(name: str, results: float, left: float, right: float) -> None:
    assert best("probe_no_insert", name) == pytest.approx((results, left, right))


def test_the_order_of_the_schemes(rng: np.random.Generator) -> None:
    infeasible = 0
    for load, costs in overloaded(rng, 10_000):
        stored = probe_no_insert(1, load, costs=costs)
        flipped = coin_flip(1, load, costs=costs)
        assert stored.results >= flipped.results * (1 - 1e-9)
        assert max(stored.work, flipped.work) <= 1 + 1e-9
        if (load.left_rate + load.right_rate) * costs.update > 1:
            infeasible += 1
            with pytest.raises(ParameterError, match="probe_no_insert"):
                insert_no_probe(1, load, costs=costs)
        else:
            probed = insert_no_probe(1, load, costs=costs)
            assert flipped.results >= probed.results * (1 - 1e-9)
            assert probed.work <= 1 + 1e-9
    assert 1000 < infeasible < 9000


@pytest.mark.parametrize("scheme", BEST)
@pytest.mark.parametrize("name", SETTINGS)
def test_no_chances_of_a_grid_are_better(scheme: Scheme, name: str) -> None:
    load, costs = SETTINGS[name]
    steps = np.linspace(0, 1, 401)
    left, right = steps[:, None], steps[None, :]
    pairs = load.selectivity * load.left_rate * load.right_rate
    stored = load.left_rate * left + load.right_rate * right
    match scheme:
        case "coin_flip":
            results = pairs * left * right * (load.left_window + load.right_window)
        case "insert_no_probe":
            stored = np.full((1, 1), load.left_rate + load.right_rate)
            results = pairs * (load.left_window * right + load.right_window * left)
        case "probe_no_insert":
            results = pairs * (load.left_window * left + load.right_window * right)
    affordable = stored * costs.update + results * costs.match <= 1 + 1e-9
    on_grid = results[affordable].max()
    found = BEST[scheme](1, load, costs=costs).results
    assert on_grid <= found * (1 + 1e-9)
    assert on_grid >= found * 0.99


@given(settings, st.floats(0, 100))
def test_probe_no_insert_is_the_linear_program(given_: Setting, work: float) -> None:
    load, costs = given_
    gains = load.meetings * np.array([load.left_window, load.right_window])
    needed = np.array([load.left_rate, load.right_rate]) * costs.update
    needed = needed + gains * costs.match
    scale = max(1.0, needed.max(), work)
    program = linprog(-gains, (needed / scale)[None, :], [work / scale], bounds=(0, 1))
    found = probe_no_insert(work, load, costs=costs)
    assert found.results == pytest.approx(-program.fun, rel=1e-5, abs=1e-5)


@given(settings, st.floats(0, 100), st.sampled_from(sorted(BEST)))
def test_any_setting(given_: Setting, work: float, scheme: str) -> None:
    load, costs = given_
    try:
        found = BEST[scheme](work, load, costs=costs)
    except ParameterError:
        assert (load.left_rate + load.right_rate) * costs.update > work
        return
    assert 0 <= found.left <= 1
    assert 0 <= found.right <= 1
    assert found.work <= work * (1 + 1e-9) + 1e-12
    assert 0 <= found.recall <= 1
    if load.work(costs) <= work:
        assert (found.left, found.right, found.recall) == (1, 1, 1)


@given(settings, st.floats(0, 100))
def test_streams_may_be_swapped(given_: Setting, work: float) -> None:
    load, costs = given_
    mirrored = JoinLoad(
        load.selectivity,
        load.right_rate,
        load.left_rate,
        load.right_window,
        load.left_window,
    )
    for scheme in (coin_flip, probe_no_insert):
        found = scheme(work, load, costs=costs)
        swapped = scheme(work, mirrored, costs=costs)
        assert swapped.results == pytest.approx(found.results)


def test_work_and_costs_may_have_any_unit() -> None:
    load, costs = SETTINGS["B"]
    scaled = Costs(costs.update * 1e3, costs.match * 1e3)
    for scheme in BEST.values():
        found, same = scheme(1, load, costs=costs), scheme(1e3, load, costs=scaled)
        assert same.results == pytest.approx(found.results)
        assert same.left == pytest.approx(found.left)


def test_a_slow_stream_stays_whole() -> None:
    load = JoinLoad(0.01, 1, 100, left_window=10, right_window=10)
    found = coin_flip(0.5, load, costs=Costs(update=0.01, match=0.001))
    assert found.left == 1
    assert found.right < 1
    assert found.work == pytest.approx(0.5)


def test_too_little_work_to_store_all() -> None:
    load = JoinLoad(0.01, 300, 300, left_window=10, right_window=10)
    with pytest.raises(ParameterError) as error:
        insert_no_probe(1, load, costs=Costs(update=0.002, match=0.0005))
    assert "work=1 does not suffice to store all arrivals" in error.value.problem
    assert "600 per time unit, at update=0.002 each, take 1.2" in error.value.problem
    assert "probe_no_insert" in error.value.fix
    assert "work=1.2 or more" in error.value.fix


def test_just_enough_work_to_store_all() -> None:
    load = JoinLoad(0.01, 300, 300, left_window=10, right_window=10)
    found = insert_no_probe(0.6, load, costs=Costs(update=0.001, match=0.0005))
    assert (found.results, found.work) == pytest.approx((0, 0.6))


def test_no_work() -> None:
    load = JoinLoad(0.5, 3, 4, left_window=1, right_window=2)
    for scheme in (coin_flip, probe_no_insert):
        assert scheme(0, load, costs=Costs(1, 1)).results == 0
        assert scheme(0, load, costs=Costs(0, 1)).results == 0
        assert scheme(0, load, costs=Costs(0, 0)).recall == 1


def test_nothing_to_find() -> None:
    silent = JoinLoad(0.5, 0, 4, left_window=1, right_window=2)
    for scheme in BEST.values():
        found = scheme(10, silent, costs=Costs(1, 1))
        assert (found.results, found.work, found.recall) == (0, 4, 1)


def test_prediction_is_a_value() -> None:
    load, costs = SETTINGS["A"]
    found = predicted_shedding("coin_flip", load, 0.5, 0.5, costs=costs)
    assert found == RandomShedding(0.5, 0.5, 500.0, found.work, 0.25)
    assert found.work == pytest.approx(0.35)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: coin_flip(-1, LOAD, costs=COSTS),
        lambda: insert_no_probe(math.nan, LOAD, costs=COSTS),
        lambda: probe_no_insert(math.inf, LOAD, costs=COSTS),
        lambda: predicted_shedding("coin_flip", LOAD, 2, 1, costs=COSTS),
        lambda: predicted_shedding("coin_flip", LOAD, 1, -1, costs=COSTS),
        lambda: JoinLoad(1.5, 1, 1, 1, 1),
        lambda: JoinLoad(0.5, -1, 1, 1, 1),
        lambda: JoinLoad(0.5, 1, 1, math.inf, 1),
    ],
)
def test_bad_values(bad: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"\nFix: "):
        bad()
