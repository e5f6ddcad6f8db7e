"""Budgets by recall: the least memory that keeps it."""

from __future__ import annotations

from typing import Any

import pytest

from shedjoin import Band, Budget, Sample, Within, local
from shedjoin.errors import ParameterError
from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.local.run import Run
from shedjoin.policies import IJoin
from support.asked import asked

WINDOWS, BATCHES, ROWS = 6, 24, 3000
STREAMS = zipf(
    Frequencies(2 * ROWS, 0.8, drift_s=100, drift_part=0.0, seed=7),
    rows=WINDOWS * ROWS,
    seconds=WINDOWS * 100,
    batches=BATCHES,
    seed=7,
)
STEADY = slice(3 * BATCHES // WINDOWS, None)
"""Micro-batches from the fourth window on."""


def _join(budget: Budget | None, **given: Any) -> Run:  # noqa: ANN401  (arguments of the join)
    return local.join(
        STREAMS,
        on="key",
        within=Within(before="100 seconds", after="100 seconds"),
        time=("left_time", "right_time"),
        budget=budget,
        collect=False,
        **asked(given),
    )


def _matched(run: Run) -> int:
    return sum(batch.report.matched for batch in run.batches[STEADY])


@pytest.mark.parametrize(
    ("shards", "most_times"),
    [(1, 1.2), pytest.param(4, 1.4, marks=pytest.mark.long)],
)
def test_the_least_memory_that_keeps_a_recall_is_held(
    shards: int, most_times: float
) -> None:
    """Several shards take more: each of them keeps the recall for itself."""
    exact = _join(None, shards=shards)
    most = 12 * ROWS
    run = _join(Budget(rows=most, recall=0.9), shards=shards)
    budgets = [batch.report.budget for batch in run.batches]
    assert set(budgets[: 2 * BATCHES // WINDOWS]) == {most}
    held = sum(budgets[STEADY]) / len(budgets[STEADY])
    assert 0.88 <= _matched(run) / _matched(exact) <= 0.95
    less = _join(Budget(rows=int(held / most_times)), shards=shards)
    assert _matched(less) < _matched(run)


def test_it_goes_on_after_a_restart() -> None:
    budget = Budget(rows=12 * ROWS, recall=0.9)
    runs = [_join(budget, shards=2, restart_every=n) for n in (0, 1)]
    first, again = ([batch.report for batch in run.batches] for run in runs)
    assert [r.budget for r in first] == [r.budget for r in again]
    assert [r.matched for r in first] == [r.matched for r in again]


def test_what_is_held_at_most_holds_where_it_is_not_enough() -> None:
    run = _join(Budget(rows=500, recall=0.99))
    assert {batch.report.budget for batch in run.batches} == {500}
    assert all(sum(batch.report.resident) <= 500 for batch in run.batches)


@pytest.mark.parametrize("recall", [0, 1, 1.5, -0.1, True, "0.9", float("nan")])
def test_a_recall_is_a_part(recall: Any) -> None:  # noqa: ANN401  (wrong on purpose)
    with pytest.raises(ParameterError, match="is not a part of the results"):
        Budget(rows=10, recall=recall)


def test_it_needs_to_know_what_may_be_held_at_most() -> None:
    with pytest.raises(ParameterError, match=r"Budget\(recall=0.9, memory=\"8 GB\"\)"):
        Budget(cpu=0.5, recall=0.9)


def test_joins_and_policies_that_cannot_foresee_say_so() -> None:
    budget = Budget(rows=10, recall=0.9)
    for keep in (IJoin(), Sample()):
        with pytest.raises(ParameterError, match="it cannot be foreseen"):
            _join(budget, keep=keep)
    with pytest.raises(ParameterError, match="two streams by key columns"):
        local.join(
            STREAMS,
            on=["key", Band("key", 1)],
            within=Within(before="1 second", after="1 second"),
            time=("left_time", "right_time"),
            budget=budget,
        )


def test_a_message_takes_the_recall_away() -> None:
    """From then on the whole budget is in force, and others are compared with it."""
    whole = {"budget": {"rows": 12 * ROWS}}
    run = _join(Budget(rows=12 * ROWS, recall=0.9), control={18: [whole]})
    budgets = [batch.report.budget for batch in run.batches]
    assert budgets[17] < 6 * ROWS
    assert set(budgets[18:]) == {12 * ROWS}
    told = run.batches[-1].report.recall_at
    assert told is not None
    assert told[0.25] > 0.99  # a quarter is more than the window holds


def test_nothing_is_expected_of_less_than_was_tried() -> None:
    """At least a 64th of the memory is in force, and no smaller part is tried."""
    run = _join(Budget(rows=64 * ROWS, recall=0.5))
    assert run.batches[-1].report.budget == ROWS
    told = run.batches[-1].report.recall_at
    assert told is not None
    assert list(told) == [1.0, 2.0, 4.0]


def test_the_budget_does_not_swing() -> None:
    """With many micro-batches in a window, what is measured comes late."""
    rows = 1500
    streams = zipf(
        Frequencies(2 * rows, 0.8, drift_s=100, drift_part=0.0, seed=7),
        rows=5 * rows,
        seconds=500,
        batches=5 * 48,
        seed=7,
    )
    within = Within(before="100 seconds", after="100 seconds")
    budget = Budget(rows=20_000, recall=0.9)
    run = local.join(
        streams,
        on="key",
        within=within,
        time=("left_time", "right_time"),
        budget=budget,
        collect=False,
    )
    held = [batch.report.budget for batch in run.batches[3 * 48 :]]
    assert max(held) < 1.25 * min(held)
