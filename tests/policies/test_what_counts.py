"""What counts as a match and as a life: only what happened, up to the present."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shedjoin import Budget, Options, Sample, Within
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import IJoin, Policy, Residents, Size, Uniform
from shedjoin.policies.goals import Goal
from shedjoin.spec.recompute import Successive
from shedjoin.spec.shedding import Discipline

SECOND = 1_000_000


def stream(name: str, seconds: list[int]) -> pa.Table:
    """Rows of one key, numbered by their second of 1970's first hour."""
    instants = [(1800 + second) * SECOND for second in seconds]
    time = pa.array(instants, pa.timestamp("us", "UTC"))
    return pa.table({"k": [7] * len(seconds), f"{name}_time": time, name: seconds})


def run(
    left: list[int],
    right: list[int],
    keep: Policy | Goal,
    budget: Budget,
    discipline: Discipline = "probe_then_insert",
) -> Run:
    """Join two streams of one key."""
    return join(
        [(stream("left", left), stream("right", right))],
        on="k",
        within=Within(before="7 seconds", after="7 seconds"),
        time=("left_time", "right_time"),
        budget=budget,
        keep=keep,
        options=Options(discipline=discipline, recompute=Successive()),
    )


@pytest.mark.parametrize("keep", [Size(), IJoin(maturity="0 seconds", decay=0.0)])
def test_a_match_that_shedding_prevented_does_not_count(keep: Policy) -> None:
    """The left row of second 6 would have met two rows, but one of them left before."""
    budget = Budget(rows=2, split=0.5)
    found = run([6, 9], [4, 6], keep, budget, "shed_then_join").results
    pairs = zip(found["left"].to_pylist(), found["right"].to_pylist(), strict=True)
    assert sorted(pairs) == [(6, 6), (9, 6)]


def test_the_life_of_a_spent_row_ends_when_it_is_spent() -> None:
    found = run([0], [5], Sample(by=Uniform(0.5, seed=2)), Budget(rows=10))
    report = found.report
    assert report.spent == 1
    assert report.lifetimes == 5.0


@pytest.mark.parametrize(("idle", "worth"), [(2_999_999, 0.5), (3_000_000, -2.5)])
def test_patience_ends_at_its_last_instant(idle: int, worth: float) -> None:
    rows = Residents.example(
        time=[0], now_us=8 * SECOND, matches=[4.0], last_match=[8 * SECOND - idle]
    )
    (score,) = IJoin(patience="3 seconds").score(rows)
    assert score == pytest.approx(worth)
