"""Streams that made a join report what is not so: its recall, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shedjoin as sj
from shedjoin import Budget, MostImportant, Within, local
from shedjoin.policies import Fifo, Policy
from support.asked import asked
from support.related import star_join

SECOND_US = 1_000_000
WIDE = Within(before="300 seconds", after="300 seconds")
Span = tuple[float, float]


def table(
    name: str, span: Span, rows: int, rng: np.random.Generator, keys: int = 300
) -> pa.Table:
    """Rows at random times of a span, in seconds, with keys that are alike."""
    seconds = np.sort(rng.uniform(*span, rows))
    time = pa.array((seconds * SECOND_US).astype(np.int64), pa.timestamp("us"))
    return pa.table({"k": rng.integers(0, keys, rows), name: time})


def joined(batches: Sequence[Any], within: Within = WIDE, **options: Any) -> local.Run:  # noqa: ANN401
    common: dict[str, Any] = {"on": "k", "time": ("l", "r"), "collect": False}
    return local.join(batches, within=within, **asked(common | options))


@pytest.mark.parametrize("policy", [None, Fifo()])
@pytest.mark.parametrize("shards", [1, 2])
def test_rows_ahead_of_the_other_stream_are_not_forgotten(
    policy: Policy | None, shards: int
) -> None:
    """The left stream runs ahead and is shed; its partners come much later."""
    rng = np.random.default_rng(1)
    batches = [
        (
            table("l", (100 * n, 100 * n + 100), 100, rng),
            table("r", (100 * n, 100 * n + 100), 100, rng),
        )
        for n in range(3)
    ]
    ahead = table("l", (2300, 2330), 3000, rng), table("r", (300, 310), 20, rng)
    nothing = ahead[0].slice(0, 0)
    follow = [(310 + 190 * n, 500 + 190 * n) for n in range(10)]
    follow += [(2210 + 60 * n, 2270 + 60 * n) for n in range(4)]
    batches += [ahead, *((nothing, table("r", span, 120, rng)) for span in follow)]
    exact = joined(batches, shards=shards)
    budget = Budget(rows=2000, split=0.3)
    run = joined(batches, shards=shards, budget=budget, keep=policy)
    for found, whole in zip(run.batches[-3:], exact.batches[-3:], strict=True):
        true = found.report.matched / whole.report.matched
        assert true < 0.5
        assert found.report.recall_state == "estimated"
        assert found.report.recall == pytest.approx(true, abs=0.1)


NEEDS: dict[str, tuple[list[Span], int, Within, str]] = {
    "a backlog of 40 windows": (
        [(0, 2400), *((2400 + 10 * n, 2410 + 10 * n) for n in range(6))],
        20,
        Within(before="60 seconds", after="60 seconds"),
        "0 seconds",
    ),
    "one stream waits, rows come late": (
        [(60 * n, 60 * n + 60) for n in range(12)],
        20,
        Within(after="60 seconds"),
        "5 minutes",
    ),
    "one stream waits, long micro-batches": (
        [(300 * n, 300 * n + 300) for n in range(8)],
        10,
        Within(after="10 minutes"),
        "10 seconds",
    ),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_is_needed_by_micro_batches_of_any_length(name: str) -> None:
    spans, rate, within, lateness = NEEDS[name]
    rng = np.random.default_rng(2)
    batches = [
        tuple(table(side, span, int(rate * (span[1] - span[0])), rng) for side in "lr")
        for span in spans
    ]
    exact = joined(batches, within, lateness=lateness)
    run = joined(batches, within, lateness=lateness, budget=Budget(rows=500))
    for found, whole in zip(run.batches[1:], exact.batches[1:], strict=True):
        held, size = sum(whole.report.resident), whole.report.state_bytes
        assert found.report.needed_rows == pytest.approx(held, rel=0.05, abs=5)
        assert found.report.needed_bytes == pytest.approx(size, rel=0.1)


def test_importance_of_both_signs_has_no_recall() -> None:
    """What is kept is positive, and what is missing negative."""
    rng = np.random.default_rng(5)
    batches = []
    for number in range(9):
        left, right = (
            table(side, (100 * number, 100 * number + 100), 800, rng, keys=40)
            for side in "lr"
        )
        left = left.append_column("worth", pa.array(rng.normal(-0.5, 1.0, 800)))
        batches.append((left, right))
    keep = MostImportant(("worth", None))
    within = Within(before="60 seconds", after="60 seconds")
    run = joined(batches, within, budget=Budget(rows=200), keep=keep)
    told = run.report
    assert told.so_far_missed_importance < 0.0 < told.so_far_importance
    assert told.importance_recall_so_far.value is None
    whole = joined(batches, within).report.matched
    assert told.recall == pytest.approx(told.matched / whole, abs=0.05)
    assert told.recall_state == "estimated"
    assert "importance recall            unknown" in str(run)


def test_a_run_without_micro_batches_can_be_printed() -> None:
    run = joined([])
    assert str(run).startswith("0 micro-batches")
    assert run.results.num_rows == 0


def test_a_time_at_the_end_of_its_range_can_be_sized() -> None:
    """The greatest nanosecond is a usual mark for "never"."""
    step = 10 * 1_000_000_000
    start = 1_700_000_000 * 1_000_000_000
    tables = []
    for name, last in (("l", (1 << 63) - 1), ("r", None)):
        time = start + step * np.arange(100)
        if last is not None:
            time[-1] = last
        stamps = pa.array(time, pa.timestamp("ns"))
        tables.append(pa.table({"k": np.arange(100) % 5, name: stamps}))
    within = Within(before="1 minute", after="1 minute")
    sizing = sj.size(*tables, on="k", within=within, time=("l", "r"), parts=(0.5,))
    exact = joined([tuple(tables)], within)
    assert sizing.results == exact.report.matched


def test_nothing_is_expected_of_other_budgets_under_a_throttle() -> None:
    """It lets go of rows and results, whatever the memory."""
    rng = np.random.default_rng(1)
    batches = [
        tuple(table(name, (60 * n, 60 * n + 60), 100, rng) for name in "lr")
        for n in range(20)
    ]
    throttled = [{"throttle": {"share": 0.3, "update": 1.0, "match": 1.0}}]
    control = {8: throttled, 12: [{"throttle": {"share": 1.0}}]}
    limits = {"with memory": Budget(rows=400, cpu=0.7), "without": Budget(cpu=0.7)}
    run = {
        name: joined(batches, budget=budget, control=control)
        for name, budget in limits.items()
    }
    told = [batch.report.recall_at for batch in run["with memory"].batches]
    assert all(told[2:8])
    assert told[8:16] == [None] * 8
    assert told[19] is not None
    # The forecast of the whole run leaves the throttled micro-batches out.
    whole = run["with memory"].recall_at
    assert whole is not None
    reports = [batch.report for batch in run["with memory"].batches]
    known = [each for each in reports if each.recall_at is not None]
    found = sum(each.measured for each in known)
    exact = found + sum(each.missed for each in known)
    assert whole[1.0] == pytest.approx(found / exact)
    assert {batch.report.recall_at for batch in run["without"].batches} == {None}


def test_a_band_does_not_claim_to_know_results_across_its_cells() -> None:
    """Those across cells are kept, and those within cells are shed."""
    rng = np.random.default_rng(1)
    batches = []
    for n in range(10):
        pair = []
        for name, aside in (("l", -0.01), ("r", 0.01)):
            rows = table(name, (60 * n, 60 * n + 60), 430, rng)
            close = 100 + 10 * rng.integers(0, 3, 30) + aside
            price = np.concatenate([close, 1000.5 + 5 * rng.integers(0, 150, 400)])
            pair.append(rows.append_column("p", pa.array(rng.permutation(price))))
        batches.append(tuple(pair))
    options: dict[str, Any] = {
        "on": sj.Band("p", 1.0),
        "within": Within(before="180 seconds", after="180 seconds"),
    }
    exact = joined(batches, **options)
    run = joined(batches, budget=Budget(rows=400), **options)
    true = run.report.matched / exact.report.matched
    _, low, high = run.report.recall_so_far
    assert low is not None
    assert high is not None
    assert low < true < high


def test_of_a_relation_nothing_is_said_of_what_an_exact_join_needs() -> None:
    rng = np.random.default_rng(1)
    left, right = (table(name, (0, 60), 100, rng) for name in "lr")
    relation = pa.table({"a": np.arange(20), "b": np.arange(20)})
    run = star_join(
        [(left, right)],
        relation,
        on=(("k", "a"), ("k", "b")),
        within=WIDE,
        time=("l", "r"),
        budget=Budget(rows=10),
    )
    assert any(run.report.shed)
    assert run.report.needed_rows == run.report.needed_bytes == 0


def test_three_streams_in_order_count_no_result_that_does_not_exist() -> None:
    """Rows that are learned from together lie further apart than a result allows."""
    rng = np.random.default_rng(4)
    batches = [
        {
            name: table(name, (100 * n, 100 * n + 100), 150, rng)
            for name in ("a", "b", "c")
        }
        for n in range(12)
    ]
    given: dict[str, Any] = {
        "on": "k",
        "within": "100 seconds",
        "time": {name: name for name in "abc"},
        "collect": False,
    }
    exact = local.multijoin(batches, **asked(given))
    run = local.multijoin(batches, budget=Budget(rows=450), **asked(given))
    true = run.report.matched / exact.report.matched
    assert run.report.recall_so_far.value == pytest.approx(true, abs=0.005)


def test_the_budget_that_is_told_is_the_one_in_force() -> None:
    rng = np.random.default_rng(1)
    batches = [
        {name: table(name, (20 * n, 20 * n + 20), 200, rng) for name in "abc"}
        for n in range(12)
    ]
    run = local.multijoin(
        batches,
        on="k",
        within="40 seconds",
        time={name: name for name in "abc"},
        options=sj.Options(shards=4),
        budget=Budget(rows=400),
        collect=False,
    )
    assert {batch.report.budget for batch in run.batches} == {400}


@pytest.mark.parametrize("shards", [1, 2])
def test_a_budget_that_comes_after_the_watermark_moved(shards: int) -> None:
    """The right rows that are left then begin more than a window after the left."""
    rng = np.random.default_rng(5)
    batches = [
        (table("l", span, 900, rng, keys=30), table("r", span, 450, rng, keys=30))
        for span in ((1000, 1450), (1450, 1900))
    ]
    nothing = (batches[0][0].slice(0, 0), batches[0][1].slice(0, 0))
    batches = [batches[0], nothing, batches[1]]
    within = Within(before="60 seconds", after="300 seconds")
    exact = joined(batches, within, shards=shards, lateness="5 seconds")
    run = joined(
        *(batches, within),
        shards=shards,
        lateness="5 seconds",
        control={2: [{"budget": {"rows": 200}}]},
    )
    found, whole = run.batches[-1].report, exact.batches[-1].report
    assert found.matched < 0.8 * whole.matched
    assert found.matched + found.missed == whole.matched
