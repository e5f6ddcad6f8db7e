"""The experiments of star-streaming joins: what is known of their streams, is found."""

from __future__ import annotations

from time import perf_counter

import pytest

from experiments.star_streaming.efficacy import KNOWN, MEMORY, SJA
from experiments.star_streaming.heuristics import shed
from experiments.star_streaming.online import HEURISTICS, RAND, WINDOW
from experiments.star_streaming.rand import random_shedding
from experiments.star_streaming.streams import drawn
from shedjoin.lab.offline import star_join, star_optimum
from shedjoin.policies import Rand

pytestmark = [pytest.mark.bench, pytest.mark.long]

RANDOM = (311, 575, 865, 1152, 1503)
"""Results of independent simulations that shed at random."""


def test_sizes_are_those_of_independent_simulations() -> None:
    archive = drawn(1)
    exact = star_join(archive)
    assert exact.size == 2721
    for memory, random in zip(MEMORY, RANDOM, strict=True):
        largest = star_optimum(archive, rows=memory, most="results")
        best = star_optimum(archive, rows=memory)
        anew = random_shedding(archive, memory, 1)
        assert largest.size == KNOWN[SJA][memory]
        assert best.size <= largest.size
        assert anew.importance < largest.importance < best.importance < exact.importance
        assert anew.size == pytest.approx(random, rel=0.15)


def test_one_lot_for_life_finds_more_than_a_draw_at_each_shed() -> None:
    archive = drawn(1)
    for seed in (0, 1):
        anew = random_shedding(archive, 2, seed)
        assert anew.size == pytest.approx(RANDOM[0], rel=0.05)
        one_lot = shed(archive, Rand(seed=seed), 2, 10)
        assert one_lot.matched > 1.15 * anew.size


@pytest.mark.parametrize("memory", MEMORY)
def test_prefilters_lose_nothing(memory: int) -> None:
    archive = drawn(2, rows=1000)
    found = [
        star_optimum(archive, rows=memory, prefilter=prefilter).importance
        for prefilter in ("matches", "relation", "none")
    ]
    assert found == pytest.approx([found[0]] * 3)


def test_the_optimum_takes_a_moment() -> None:
    archive = drawn(1)
    star_optimum(archive, rows=10)  # compiled
    start = perf_counter()
    star_optimum(archive, rows=10)
    assert perf_counter() - start < 2


def test_heuristics_come_in_the_order_of_the_paper() -> None:
    """On average over streams; nothing is above the optimum, and all above chance."""
    found: dict[str, list[float]] = {name: [] for name in (*HEURISTICS, RAND)}
    for seed in (1, 2, 3):
        archive = drawn(seed, rows=2000, window=WINDOW)
        best = star_optimum(archive, rows=10).importance
        for name, policy in HEURISTICS.items():
            found[name].append(shed(archive, policy, 10, WINDOW).importance)
            assert found[name][-1] <= best
        found[RAND].append(random_shedding(archive, 10, seed).importance)
    mean = {name: sum(each) / len(each) for name, each in found.items()}
    assert max(mean, key=mean.__getitem__) == "DGL-S"
    assert min(mean[name] for name in HEURISTICS) > 1.3 * mean[RAND]
