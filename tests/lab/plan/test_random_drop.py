"""Drops at random: the best chances there are, and how harvests compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import (
    HarvestLoad,
    RandomDrop,
    best_harvest,
    equal_drop,
    flat_scores,
    random_drop,
)

from .harvests import DRAWS, FLAT, anything, evaluated, lagged, overloaded

Drop = Callable[[float, HarvestLoad], RandomDrop]


def thinned(load: HarvestLoad, chances: tuple[float, ...]) -> list[float]:
    """Results and work of the join of what is left of the streams."""
    rates = [
        chance * float(rate) for chance, rate in zip(chances, load.rates, strict=True)
    ]
    left = HarvestLoad(
        rates,
        load.windows,
        load.orders,
        load.selectivities,
        load.scores,
        normalise=load.normalise,
        result_cost=load.result_cost,
    )
    return evaluated(left, [direction.whole for direction in left.directions])


@pytest.mark.parametrize("streams", [2, 3, 4])
def test_results_and_work_are_those_of_the_rest(streams: int) -> None:
    for seed in range(15):
        rng = np.random.default_rng([streams, seed])
        load = anything(rng, streams, 3)
        work = rng.uniform(0.001, 0.99) * load.work
        for found in (equal_drop(work, load), random_drop(work, load)):
            assert [found.results, found.work] == pytest.approx(
                thinned(load, found.chances)
            )
            assert found.work == pytest.approx(work)
            assert max(found.chances) <= 1
        assert len(set(equal_drop(work, load).chances)) == 1


def test_no_chances_are_better() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        load = overloaded(rng, DRAWS["high"], flat=True)
        work = rng.uniform(0.02, 0.9) * load.work
        best = random_drop(work, load).results
        assert best >= equal_drop(work, load).results
        grid = np.linspace(0, 1, 8)
        for chances in product(grid, repeat=3):
            results, cost = thinned(load, chances)
            if cost <= work:
                assert results <= best * (1 + 1e-9)


def test_no_neighbours_are_better() -> None:
    rng = np.random.default_rng(5)
    load = overloaded(rng, DRAWS["high"], flat=True)
    work = 0.3 * load.work
    best = random_drop(work, load)
    for _ in range(300):
        moved = np.clip(best.chances * np.exp(rng.normal(0, 0.02, 3)), 0, 1)
        results, cost = thinned(load, tuple(moved.tolist()))
        if cost <= work:
            assert results <= best.results * (1 + 1e-6)


def test_harvests_gain_by_lags() -> None:
    load = lagged(normalise=False)
    for share in (0.1, 0.3, 0.5):
        harvest = best_harvest(share * load.work, load)
        assert harvest.results > 1.5 * random_drop(share * load.work, load).results


@pytest.mark.parametrize("drop", [equal_drop, random_drop])
def test_enough_work_drops_nothing(drop: Drop) -> None:
    assert drop(FLAT.work, FLAT).chances == (1, 1, 1)
    assert drop(FLAT.work, FLAT).recall == 1.0


@pytest.mark.parametrize("drop", [equal_drop, random_drop])
def test_no_work_drops_everything(drop: Drop) -> None:
    found = drop(0, FLAT)
    assert (found.chances, found.results, found.work) == ((0, 0, 0), 0, 0)


@pytest.mark.parametrize("drop", [equal_drop, random_drop])
def test_a_join_without_results(drop: Drop) -> None:
    load = HarvestLoad(
        [1, 1], [1, 1], [[1], [0]], [[0, 0], [0, 0]], flat_scores([1, 1])
    )
    found = drop(0.5, load)
    assert found.work == pytest.approx(0.5)
    assert (found.results, found.recall) == (0, 1)


@pytest.mark.parametrize("drop", [equal_drop, random_drop])
@pytest.mark.parametrize("work", [-1.0, math.nan, math.inf])
def test_work_that_is_refused(drop: Drop, work: float) -> None:
    with pytest.raises(ParameterError, match="work="):
        drop(work, FLAT)
