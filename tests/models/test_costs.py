"""Costs of work against micro-batches that take what they are told."""

from __future__ import annotations

import random

import pytest

from shedjoin.models.costs import TYPICAL, Costs, Seconds, Work


def test_costs_from_a_sweep() -> None:
    """Rates, yields and shares vary: every cost is found to 20 %, noise is 5 %."""
    truth, rng = Seconds(0.4, 5e-6, 2e-6, 1e-6), random.Random(3)
    costs = Costs()
    for _ in range(60):
        rows, share = rng.uniform(1e4, 5e5), rng.uniform(0.05, 1)
        work = Work(1, rows, share * rows, share * rows * rng.uniform(0, 20))
        costs.observe(work, truth.of(work) * rng.uniform(0.95, 1.05))
    assert costs.seconds() == pytest.approx(truth, rel=0.2)


def test_costs_of_micro_batches_that_are_all_alike() -> None:
    """Nobody can tell them apart; the sum is right, and none is zero."""
    costs, work = Costs(), Work(1, 1e5, 1e5, 1e6)
    for _ in range(10):
        costs.observe(work, 2.0)
    found = costs.seconds()
    assert found.of(work) == pytest.approx(2.0, rel=0.02)
    assert min(found) > 0


def test_nothing_is_known_yet() -> None:
    assert Costs().seconds() == TYPICAL


def test_a_cost_too_small_to_measure_is_learned_all_the_same() -> None:
    """A calibration may find none for a row, and a throttle is needed nevertheless."""
    costs, work = Costs(Seconds(0.5, 0.0, 1e-6, 0.0)), Work(1, 1e5, 1e5, 1e6)
    for _ in range(30):
        costs.observe(work, 2.0)
    assert costs.seconds().of(work) == pytest.approx(2.0, rel=0.1)
