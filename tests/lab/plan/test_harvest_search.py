"""Searches for a harvest: the reference numbers, the optimum, and how near it is."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    Harvest,
    HarvestLoad,
    best_harvest,
    flat_scores,
    greedy_harvest,
    harvest_by_chance,
    join_orders,
    whole_harvest,
)
from shedjoin.plan.harvest_greedy import Metric, Side

from .harvests import DRAWS, FLAT, anything, brute_force, lagged, overloaded

METRICS: tuple[Metric, ...] = ("delta", "results", "results_per_work")
SIDES: tuple[Side, ...] = ("grow", "shrink", "double")


def all_searches(work: float, load: HarvestLoad) -> list[Harvest]:
    greedy = [
        greedy_harvest(work, load, metric=metric, side=side)
        for metric in METRICS
        for side in SIDES
    ]
    return [best_harvest(work, load), *greedy]


@pytest.mark.parametrize(
    ("share", "results", "counts"),
    [
        (0.1, 30, ((1, 1), (0, 0), (0, 0))),
        (0.25, 60, ((1, 2), (0, 0), (0, 0))),
        (0.5, 150, ((2, 2), (0, 0), (1, 2))),
        (0.75, 180, ((2, 2), (0, 0), (2, 2))),
    ],
)
def test_the_flat_reference_load(
    share: float, results: float, counts: tuple[tuple[int, ...], ...]
) -> None:
    work = share * FLAT.work
    for found in (best_harvest(work, FLAT), greedy_harvest(work, FLAT, side="grow")):
        assert found.counts == counts
        assert found.results == pytest.approx(results)
        assert found.chance == 1.0


def test_fewer_steps_are_not_always_better() -> None:
    """What the docstring says of "double" at z = 0.75."""
    found = greedy_harvest(0.75 * FLAT.work, FLAT)
    assert found.results == pytest.approx(165.0)


@pytest.mark.parametrize("side", SIDES)
def test_the_lagged_reference_load(side: Side) -> None:
    load = lagged(normalise=True)
    best = best_harvest(0.5 * load.work, load)
    assert best.counts == ((1, 1), (3, 4), (3, 5))
    assert best.results == pytest.approx(1574.840, abs=5e-4)
    assert best.work / load.work == pytest.approx(0.489958, abs=5e-7)
    assert greedy_harvest(0.5 * load.work, load, side=side) == best


def test_the_lagged_reference_load_with_shares_of_all_matches() -> None:
    load = lagged(normalise=False)
    best = best_harvest(0.5 * load.work, load)
    assert best.counts == ((0, 0), (2, 5), (4, 5))
    assert best.results == pytest.approx(396.008, abs=5e-4)


@pytest.mark.parametrize(
    ("streams", "most"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4)]
)
def test_the_optimum_is_that_of_brute_force(streams: int, most: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([streams, most, seed])
        load = anything(rng, streams, most)
        work = rng.uniform(0.02, 0.9) * load.work
        expected = brute_force(work, load)
        best = best_harvest(work, load)
        if expected > 0:
            assert best.chance == 1.0
            assert best.results == pytest.approx(expected)
        else:
            assert best == harvest_by_chance(work, load)


@pytest.mark.parametrize("streams", [2, 3, 4])
def test_every_search_stays_within_the_work_and_finds_something(streams: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng([streams, seed])
        load = anything(rng, streams, 6)
        if load.work == 0:
            continue
        for share in (1e-9, 1e-3, 0.05, 0.3, 0.8, 0.999):
            best, *others = all_searches(share * load.work, load)
            for found in (best, *others):
                assert found.work <= share * load.work * (1 + 1e-9)
                assert found.results > 0 or load.results == 0
                assert found.results <= best.results * (1 + 1e-9)


def test_less_than_one_basic_window_is_joined_by_chance() -> None:
    work = 0.01 * FLAT.work  # the least harvest takes 2500
    for found in all_searches(work, FLAT):
        assert found == harvest_by_chance(work, FLAT)
        assert found.work == pytest.approx(work)
        assert found.results == pytest.approx(0.015 * work)


def test_a_dead_direction_that_fits_is_no_harvest() -> None:
    dead_but_cheap = HarvestLoad(
        [1000, 1],
        [10, 10],
        [[1], [0]],
        [[0, 0.1], [0, 0]],
        flat_scores([1, 1]),
    )
    # Of 10,000 comparisons each way, those of the second stream find nothing.
    cheap = HarvestLoad(
        [1000, 1], [1, 10], [[1], [0]], [[0, 0.1], [0, 0]], flat_scores([1, 1])
    )
    for load in (dead_but_cheap, cheap):
        for found in all_searches(0.2 * load.work, load):
            assert found.results > 0


@pytest.mark.parametrize("share", [1.0, 1.5])
def test_enough_work_sheds_nothing(share: float) -> None:
    load = HarvestLoad(
        [10, 20],
        [10, 10],
        [[1], [0]],
        [[0, 0.1], [0.1, 0]],
        [[[], [1, 0, 0]], [[0, 0], []]],
    )
    for found in all_searches(share * load.work, load):
        assert found == whole_harvest(load)


def test_work_that_is_left_goes_to_windows_of_score_zero() -> None:
    load = HarvestLoad(
        [10, 10],
        [10, 10],
        [[1], [0]],
        [[0, 0.1], [0.1, 0]],
        [[[], [1, 0, 0, 0]], [[1, 0, 0, 0], []]],
    )
    for side in SIDES:
        found = greedy_harvest(0.75 * load.work, load, side=side)
        assert found.results == load.results
        assert found.work == pytest.approx(0.75 * load.work)
    assert best_harvest(0.75 * load.work, load).counts == ((1,), (1,))


def mean_share(
    work: float,
    loads: list[HarvestLoad],
    *,
    metric: Metric = "delta",
    side: Side = "double",
) -> float:
    """How much of the optimum a greedy search finds, on average."""
    shares = [
        greedy_harvest(work * load.work, load, metric=metric, side=side).results
        / best_harvest(work * load.work, load).results
        for load in loads
    ]
    assert max(shares) <= 1 + 1e-9
    return float(np.mean(shares))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("draw", DRAWS)
def test_greedy_is_near_the_optimum(draw: str, flat: bool) -> None:
    rng = np.random.default_rng(1)
    loads = [overloaded(rng, DRAWS[draw], flat=flat) for _ in range(25)]
    # The lowest means of ten settings with 60 to 100 loads each. Of 25 loads, whose
    # shares scatter by 0.03, the mean is uncertain by 0.006: a margin of 2.5 of that.
    for share, lowest in ((0.1, 0.954), (0.2, 0.968), (0.4, 0.983), (0.7, 0.995)):
        assert mean_share(share, loads, side="grow") > lowest - 0.015


def test_which_metric_is_good_where() -> None:
    rng = np.random.default_rng(2)
    draw = DRAWS["of all magnitudes"]
    flat = [overloaded(rng, draw, flat=True) for _ in range(25)]
    lags = [overloaded(rng, draw, flat=False) for _ in range(25)]
    # All results count where much can be done, results per work where little can; with
    # lags, the latter falls behind there too.
    assert mean_share(0.1, flat, metric="results") < 0.8
    assert mean_share(0.8, flat, metric="results") > 0.98
    assert mean_share(0.1, flat, metric="results_per_work") > 0.95
    assert mean_share(0.1, lags, metric="results_per_work") < 0.95


def large(streams: int, count: int) -> HarvestLoad:
    rng = np.random.default_rng(1)
    selectivities = 3e-3 * rng.uniform(0.03, 1, (streams, streams)) ** 2
    return HarvestLoad(
        rng.uniform(100, 500, streams),
        [10.0] * streams,
        join_orders(list(selectivities)),
        list(selectivities),
        [
            [rng.dirichlet(np.full(count, 0.5)) for _ in range(streams)]
            for _ in range(streams)
        ],
    )


def test_greedy_is_quick() -> None:
    load = large(5, 20)
    # Takes 5 ms; there is room for machines that are busy or trace the tests.
    for share in (0.05, 0.25, 0.3, 0.6, 0.9):
        taken = []
        for _ in range(5):
            start = perf_counter()
            greedy_harvest(share * load.work, load)
            taken.append(perf_counter() - start)
        assert min(taken) < 0.05


def test_the_optimum_of_five_streams() -> None:
    load = large(5, 10)
    best = best_harvest(0.4 * load.work, load)
    assert best.work <= 0.4 * load.work
    for side in SIDES:
        assert greedy_harvest(0.4 * load.work, load, side=side).results <= best.results


def test_too_many_options_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shedjoin.lab.plan.harvest_best._MOST", 100)
    load = large(4, 10)
    with pytest.raises(ParameterError, match="one of too many") as found:
        best_harvest(0.5 * load.work, load)
    assert "use greedy_harvest" in str(found.value)


@pytest.mark.parametrize("work", [-1.0, math.nan, math.inf])
def test_work_that_is_refused(work: float) -> None:
    for search in (best_harvest, greedy_harvest):
        with pytest.raises(ParameterError, match="work="):
            search(work, FLAT)


def test_names_that_are_refused() -> None:
    with pytest.raises(ParameterError, match="metric='best' is not known"):
        greedy_harvest(1, FLAT, metric="best")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="side='left' is not known"):
        greedy_harvest(1, FLAT, side="left")  # type: ignore[arg-type]


def test_no_work_at_all() -> None:
    for found in all_searches(0, FLAT):
        assert (found.chance, found.results, found.work) == (0, 0, 0)


def test_streams_without_arrivals() -> None:
    load = HarvestLoad(
        [0, 0], [10, 10], [[1], [0]], [[0, 0.1], [0.1, 0]], flat_scores([2, 2])
    )
    for found in all_searches(0, load):
        assert found == whole_harvest(load)
