"""Harvests by the price of work: what they guarantee, and how good they are."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.lab.plan import (
    best_harvest,
    greedy_harvest,
    harvest_by_chance,
    harvest_by_price,
    whole_harvest,
)

from .harvests import DRAWS, FLAT, anything, overloaded


@pytest.mark.parametrize("streams", [2, 3, 4])
def test_it_stays_within_the_work_and_finds_something(streams: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([streams, seed])
        load = anything(rng, streams, 6)
        for share in (1e-9, 1e-3, 0.05, 0.3, 0.8, 0.999):
            work = share * load.work
            found = harvest_by_price(work, load)
            assert found.work <= work * (1 + 1e-9)
            assert found.results >= harvest_by_chance(work, load).results * (1 - 1e-9)


def test_no_counts_have_more_results_for_its_work() -> None:
    tried = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        load = anything(rng, 3, 4)
        found = harvest_by_price(rng.uniform(0.05, 0.9) * load.work, load)
        if found.chance == 1.0 or not found.results:
            continue
        best = best_harvest(found.work / found.chance * (1 + 1e-6), load)
        assert found.results / found.chance >= best.results * (1 - 1e-4)
        tried += 1
    assert tried > 10


def test_it_is_often_better_than_the_optimum_without_a_chance() -> None:
    """One basic window more is often too much for all arrivals."""
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        load = overloaded(rng, DRAWS["of all magnitudes"], flat=False)
        work = 0.1 * load.work
        priced = harvest_by_price(work, load).results
        ratios.append(priced / best_harvest(work, load).results)
        assert priced >= 0.5 * greedy_harvest(work, load).results
    assert np.mean(ratios) > 0.95


def test_enough_work_sheds_nothing() -> None:
    assert harvest_by_price(FLAT.work, FLAT) == whole_harvest(FLAT)


def test_no_work_finds_nothing() -> None:
    assert harvest_by_price(0.0, FLAT).results == 0
