"""The recall that is expected with other budgets, held against runs with these."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from benchmarks.worlds import world_at
from shedjoin import Budget, Within, local
from shedjoin.local.run import Run
from shedjoin.policies import Fifo, IJoin, Policy, Prob
from shedjoin.spec.report import Report
from support.asked import asked

ROWS, BATCHES, SEED = 6000, 12, 5
SEEDS = (SEED, 6, 7)
"""Means over these: a shard draws 2,048 rows by lot."""


def _join(
    world: str,
    seed: int = SEED,
    **given: Any,  # noqa: ANN401  (arguments of the join)
) -> Run:
    found, streams, _, _ = world_at(world, ROWS, BATCHES, seed)
    after, before = (f"{seconds} seconds" for seconds in found.reach_s)
    return local.join(
        streams,
        on=found.key,
        within=Within(before=before, after=after),
        time=found.times,
        collect=False,
        **asked(given),
    )


def _kept(run: Run, world: str, seed: int = SEED) -> float:
    """Recall since the first window has filled."""
    truth = world_at(world, ROWS, BATCHES, seed)[3]
    kept = [batch.report.matched for batch in run.batches[truth.warm :]]
    return float(sum(kept) / truth.results[truth.warm :].sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "policy", "shards"),
    [
        ("zipf 1", None, 4),
        ("impressions", None, 1),
        ("clicks", None, 1),
        pytest.param("zipf 0.8", Prob(), 4, marks=pytest.mark.long),
        ("clicks", Fifo(), 1),
    ],
)
def test_recall_at_is_the_recall_of_other_budgets(
    world: str, policy: Policy | None, shards: int
) -> None:
    given: dict[str, Any] = {"keep": policy, "shards": shards}
    off: dict[float, list[float]] = {0.25: [], 0.5: [], 2.0: [], 4.0: []}
    for seed in SEEDS:
        truth = world_at(world, ROWS, BATCHES, seed)[3]
        budget = int(0.2 * truth.rows)
        run = _join(world, seed, budget=Budget(rows=budget), **given)
        steady = sum((batch.report for batch in run.batches[truth.warm :]), Report())
        assert steady.recall_at is not None
        for factor, each in off.items():
            rows = Budget(rows=int(factor * budget))
            kept = _kept(_join(world, seed, budget=rows, **given), world, seed)
            each.append(steady.recall_at[factor] - kept)
    assert {factor: abs(fmean(each)) < 0.03 for factor, each in off.items()} == (
        dict.fromkeys(off, True)
    ), off
    assert max(abs(each) for own in off.values() for each in own) < 0.08, off


def test_it_is_known_before_anything_was_shed() -> None:
    """Whoever has more than enough wants to know how little would do."""
    truth = world_at("zipf 1", ROWS, BATCHES, SEED)[3]
    run = _join("zipf 1", budget=Budget(rows=int(2 * truth.rows)))
    quarter = _join("zipf 1", budget=Budget(rows=int(0.5 * truth.rows)))
    report = run.batches[-1].report
    assert report.recall_state == "exact"
    assert report.recall_at is not None
    assert report.recall_at[0.25] == pytest.approx(_kept(quarter, "zipf 1"), abs=0.03)
    assert report.recall_at[4.0] == 1.0


def test_it_is_the_same_after_a_restart() -> None:
    budget = Budget(rows=600)
    runs = [_join("zipf 1", budget=budget, restart_every=n) for n in (0, 1)]
    first, again = ([batch.report.recall_at for batch in run.batches] for run in runs)
    assert first == again


def test_it_is_not_known_where_scores_depend_on_what_is_held() -> None:
    run = _join("zipf 1", budget=Budget(rows=600), keep=IJoin())
    assert {batch.report.recall_at for batch in run.batches} == {None}


def test_it_is_printed() -> None:
    run = _join("zipf 1", budget=Budget(rows=600))
    shown = str(run).splitlines()
    (expected,) = (line for line in shown if line.startswith("recall to expect"))
    assert expected.endswith("with 4x the budget")
    assert any(line.startswith("budget in force") for line in shown)
    assert shown[1].split() == ["rows", "left", "right", "all"]
