"""Weights account for rows that come after the clock has passed their window.

Such rows are not late by the watermark, so exact results have their matches. A sample
has to shed their partners by lot, not by the clock.
"""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin import Budget
from shedjoin.policies import BestSample, EqCluster, PpsCluster

from .disorder import (
    PER_WINDOW,
    WINDOW_S,
    Batches,
    Disorder,
    estimated,
    interval_of,
    joined,
    table,
    together,
    window_of,
)
from .policies import Scheme

OLD, COMES, WINDOWS = 4, 6, 8


def late_window(seed: int) -> Batches:
    """Windows in order, but for one that comes two windows after its time."""
    rng = np.random.default_rng(seed)
    batches = []
    for number in range(WINDOWS):
        due = {OLD: [], COMES: [OLD, COMES]}.get(number, [number])
        starts = WINDOW_S * np.repeat(due, PER_WINDOW)
        left, right = (
            table(side, starts + rng.uniform(0, WINDOW_S, starts.size), rng)
            for side in (0, 1)
        )
        batches.append((left, right))
    return batches


@pytest.mark.parametrize("policy", [BestSample, EqCluster, PpsCluster])
def test_a_window_that_comes_two_windows_later(policy: Scheme) -> None:
    ratio, holds = [], []
    for seed in range(12):
        batches, lateness_s = late_window(seed), 4 * WINDOW_S
        exact = joined(batches, lateness_s).results
        truth = exact["value"].to_numpy()[window_of(exact) == OLD].sum()
        budget = Budget(rows=300)
        found = joined(batches, lateness_s, budget=budget, keep=policy(seed=seed))
        late = interval_of(found.results, window_of(found.results) == OLD)
        ratio.append(late.value / truth)
        holds.append(late.low <= truth <= late.high)
    error = np.std(ratio) / np.sqrt(len(ratio))
    assert abs(np.mean(ratio) - 1.0) < 3.0 * error
    assert np.mean(holds) >= 0.8


FEW = [Disorder(0.5, True, 0.3), Disorder(1.0, True, 0.5), Disorder(4.0, False, 0.3)]


@pytest.mark.parametrize("disorder", FEW, ids=str)
def test_windows_of_rows_out_of_order(disorder: Disorder) -> None:
    found = estimated(disorder, BestSample(), 50, 1)
    assert abs(found.ratio.mean() - 1.0) < 0.03, str(found)
    assert found.holds.mean() >= 0.88, str(found)
    assert found.trusted.mean() >= 0.8, str(found)


@pytest.mark.long
@pytest.mark.parametrize("memory", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("both", [False, True], ids=["one", "both"])
def test_intervals_hold_in_95_of_100_windows(both: bool, memory: float) -> None:
    parts = []
    for behind in (0.5, 1.0, 2.0, 4.0):
        runs = [
            estimated(Disorder(behind, both, memory), BestSample(seed), 100, seed)
            for seed in range(5)
        ]
        found = together(runs)
        # Over 500 windows a coverage has a standard error of 1 %.
        assert 0.91 <= found.holds.mean() <= 0.99, f"{behind}: {found}"
        assert abs(found.ratio.mean() - 1.0) < 0.02, f"{behind}: {found}"
        parts.append(found)
    everything = together(parts)
    assert 0.93 <= everything.holds.mean() <= 0.97, str(everything)


def test_rows_further_behind_than_declared_are_not_trusted() -> None:
    """Nothing is late: the watermark follows after a micro-batch of six windows."""
    rng = np.random.default_rng(3)
    first, then = 6 * PER_WINDOW, 2 * PER_WINDOW
    batches = [
        tuple(
            table(side, WINDOW_S * rng.uniform(low, high, rows), rng) for side in (0, 1)
        )
        for low, high, rows in ((0, 6, first), (3, 4, then), (6, 9, first))
    ]
    run = joined(batches, 0, budget=Budget(rows=200), keep=EqCluster())
    assert run.report.late == (0, 0)
    window, cluster = window_of(run.results), run.results["_cluster"].to_numpy()
    assert set(window[cluster < 0]) <= {3, 4}
    assert not interval_of(run.results, window == 3).trusted
    assert interval_of(run.results, window == 7).trusted
    again = joined(
        batches, 0, budget=Budget(rows=200), keep=EqCluster(), restart_every=1
    )
    assert again.results.equals(run.results)


@pytest.mark.parametrize("memory", [0.1, 0.5])
def test_rows_in_order_are_never_in_doubt(memory: float) -> None:
    disorder = Disorder(0.0, False, memory)
    budget = Budget(rows=disorder.rows)
    run = joined(disorder.batches(20, 2), 0, budget=budget, keep=BestSample())
    assert run.report.outlived > 0
    assert run.results["_cluster"].to_numpy().min() >= 0
