"""Streams and messages on which the recall with other budgets is easily wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Within, local
from shedjoin.lab.workloads.rows import Batches
from shedjoin.local.run import Run
from shedjoin.models.division import by_rows
from shedjoin.models.recall_curve import RecallCurve
from shedjoin.policies import Fifo, Policy
from shedjoin.types import FloatArray, IntArray
from support.asked import asked

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
JOIN: dict[str, Any] = {
    "on": "key",
    "time": ("left_time", "right_time"),
    "within": Within(before="100 seconds", after="100 seconds"),
}
FACTORS = (0.25, 0.5, 2.0, 4.0)
Side = tuple[IntArray, IntArray]
"""Times and keys."""


def keys(rng: np.random.Generator, rows: int, names: int = 2000) -> IntArray:
    weight = 1 / np.arange(1, names + 1) ** 0.9
    return rng.choice(names, rows, p=weight / weight.sum())


def times(rng: np.random.Generator, rows: int, seconds: int) -> IntArray:
    return np.sort(rng.integers(0, seconds * SECOND, rows))


def batches_of(
    left: Side, right: Side, count: int, came: Sequence[IntArray] | None = None
) -> Batches:
    """Cut rows into micro-batches by when they came, which is their time by default."""
    sides = left, right
    came = [time for time, _ in sides] if came is None else came
    ends = np.linspace(0, max(int(each.max()) for each in came) + 1, count + 1)

    def table(side: int, low: float, high: float) -> pa.Table:
        time, key = sides[side]
        rows = (came[side] >= low) & (came[side] < high)
        kind = pa.timestamp("us", "UTC")
        name = JOIN["time"][side]
        return pa.table({"key": key[rows], name: pa.array(START + time[rows], kind)})

    return [(table(0, low, high), table(1, low, high)) for low, high in pairwise(ends)]


def steady_streams(seed: int = 1, rows: int = 6000, count: int = 24) -> Batches:
    rng = np.random.default_rng(seed)
    sides = [(times(rng, rows, 600), keys(rng, rows)) for _ in range(2)]
    return batches_of(sides[0], sides[1], count)


def joined(batches: Batches, rows: int | None, **given: Any) -> Run:  # noqa: ANN401  (arguments of the join)
    budget = None if rows is None else Budget(rows=rows)
    given = {"budget": budget, "collect": False, **JOIN, **given}
    return local.join(batches, **asked(given))


def matched(run: Run, since: int) -> int:
    return sum(batch.report.matched for batch in run.batches[since:])


def expected(run: Run, at: int = -1) -> FloatArray:
    told = run.batches[at].report.recall_at
    assert told is not None
    return np.array([told[factor] for factor in FACTORS])


def kept(batches: Batches, rows: int, since: int, **given: Any) -> FloatArray:  # noqa: ANN401
    """Recall of runs that have the other budgets."""
    whole = matched(joined(batches, None, **_of_all(given)), since)
    runs = [joined(batches, int(factor * rows), **given) for factor in FACTORS]
    return np.array([matched(run, since) / whole for run in runs])


def _of_all(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "keep"}


def test_rows_that_come_out_of_order() -> None:
    """By up to two windows, all of which the lateness admits."""
    rng, rows = np.random.default_rng(3), 5000
    time = [rng.integers(0, 600 * SECOND, rows) for _ in range(2)]
    came = [each + rng.integers(0, 200 * SECOND, rows) for each in time]
    sides = [(each, keys(rng, rows)) for each in time]
    batches = batches_of(sides[0], sides[1], 24, came)
    run = joined(batches, 3000, lateness="200 seconds")
    told = sum((batch.report for batch in run.batches[9:]), run.batches[8].report)
    assert told.recall_at is not None
    found = np.array([told.recall_at[factor] for factor in FACTORS])
    truth = kept(batches, 3000, 8, lateness="200 seconds")
    assert np.abs(found - truth).max() < 0.08


@pytest.mark.parametrize("keep", [None, Fifo()])
def test_keys_that_differ_in_their_first_bit_alone(keep: Policy | None) -> None:
    """Half of the rows have a key that never matches."""
    rng, rows = np.random.default_rng(5), 4000
    time = [times(rng, rows, 600) for _ in range(2)]
    rare = [rng.integers(100, 600, rows) for _ in range(2)]
    popular = [rng.random(rows) < 0.5 for _ in range(2)]
    left = np.where(popular[0], 7, rare[0])
    right = np.where(popular[1], 7 - 2**63, rare[1])
    batches = batches_of((time[0], left), (time[1], right), 24)
    found = expected(joined(batches, 300, keep=keep))
    assert np.abs(found - kept(batches, 300, 16, keep=keep)).max() < 0.08


def test_a_calm_stream_after_a_burst() -> None:
    """Few rows are sampled in a burst; soon enough of them are again."""
    rng, rows, burst = np.random.default_rng(5), 9000, 40_000
    left, right = ((times(rng, rows, 1500), keys(rng, rows)) for _ in range(2))
    time = np.concatenate([times(rng, burst, 20), left[0]])
    key = np.concatenate([rng.integers(10**6, 10**9, burst), left[1]])
    batches = batches_of((time, key), right, 30)
    run = joined(batches, 300)
    found = np.mean([expected(run, at) for at in range(15, 30)], axis=0)
    assert np.abs(found - kept(batches, 300, 15)).max() < 0.08


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (Budget(rows=20_000, recall=0.9), {"rows": 1000}),
        (Budget(rows=400), {"memory": 80_000}),
        (Budget(memory=80_000), {"rows": 400}),
    ],
    ids=["fewer rows", "bytes", "rows"],
)
def test_another_budget(first: Budget, then: dict[str, int]) -> None:
    """It is not known for a window, and then it is that of the new budget."""
    batches = steady_streams()
    run = joined(batches, None, budget=first, control={14: [{"budget": then}]})
    always = joined(batches, None, budget=Budget(**then))  # type: ignore[arg-type]
    told = [batch.report.recall_at for batch in run.batches]
    assert told[14:17] == [None] * 3
    for at in range(18, 24):
        assert np.abs(expected(run, at) - expected(always, at)).max() < 0.06


def test_a_budget_by_recall_that_a_message_lowers() -> None:
    batches = steady_streams()
    given = {"rows": 1000, "recall": 0.9}
    budget = Budget(rows=20_000, recall=0.9)
    run = joined(batches, None, budget=budget, control={14: [{"budget": given}]})
    assert all(batch.report.budget <= 1000 for batch in run.batches[14:])
    exact = joined(batches, None)
    assert matched(run, 14) / matched(exact, 14) > 0.85


def test_what_a_run_says_counts_micro_batches_that_know_it() -> None:
    """The budget comes with a message: of what was before, nothing is told."""
    batches = steady_streams()
    run = joined(batches, None, control={12: [{"budget": {"rows": 400}}]})
    always = joined(batches, 400)
    told, known = run.recall_at, always.recall_at
    assert told is not None
    assert known is not None
    for factor in FACTORS:
        assert told[factor] == pytest.approx(known[factor], abs=0.06)


def test_a_run_says_what_to_expect_of_its_last_budget() -> None:
    """Not of that which was in force when most of the rows came."""
    batches = steady_streams()
    run = joined(batches, 300, control={10: [{"budget": {"rows": 1500}}]})
    last = run.batches[-1].report.recall_at
    assert run.recall_at is not None
    assert last is not None
    assert run.report.recall_at is None
    for factor in FACTORS:
        assert run.recall_at[factor] == pytest.approx(last[factor], abs=0.04)


def test_a_silent_stream_makes_nothing_grow() -> None:
    """The watermark stands still, and the other stream goes on."""
    rng, batches = np.random.default_rng(1), []
    kind = pa.timestamp("us", "UTC")
    for number in range(240):
        time = pa.array(START + number * 20 * SECOND + times(rng, 20, 20), kind)
        left = pa.table({"key": rng.integers(0, 50, 20), "left_time": time})
        right = left.rename_columns(["key", "right_time"])
        batches.append((left, right if number < 3 else right.slice(0, 0)))
    within = Within(before="10 seconds", after="10 seconds")
    run = joined(batches, 50, within=within)
    written = [batch.report.written_bytes for batch in run.batches]
    assert max(written[200:]) < 1.2 * max(written[40:80])


def test_shards_never_have_more_than_the_budget_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever part of the budget each of them needs for the recall.

    A larger budget may mean a smaller share: of six rows the second of these shards
    has none, of five one.
    """
    held = np.array([[50, 10, 40]])
    assert by_rows([5], held, 3)[0, 1] > by_rows([6], held, 3)[0, 1]
    rng = np.random.default_rng(5)
    part = iter(rng.choice([0.9, 0.95, 1.0, 1.0], 10_000))
    monkeypatch.setattr(RecallCurve, "factor_for", lambda *_: next(part))
    sides = [(times(rng, 700, 600), rng.integers(0, 40, 700)) for _ in range(2)]
    batches = batches_of(sides[0], sides[1], 40)
    budget = Budget(rows=17, recall=0.5)
    run = joined(batches, None, budget=budget, keep=Fifo(), shards=8)
    for batch in run.batches:
        assert batch.report.budget <= 17
        assert sum(batch.report.resident) <= 17


def _with_bids(batches: Batches) -> Batches:
    rng, found = np.random.default_rng(2), []
    for left, right in batches:
        bid = rng.normal(size=left.num_rows)
        bid[::7], bid[1::7], bid[2::7] = np.nan, np.inf, -np.inf
        found.append((left.append_column("bid", pa.array(bid)), right))
    return found


def _with_a_row_of_the_far_future(batches: Batches) -> Batches:
    left, right = batches[6]
    far = left.slice(0, 1).set_column(
        1, "left_time", pa.array([START + 10**9 * SECOND], left.schema.field(1).type)
    )
    return [*batches[:6], (pa.concat_tables([left, far]), right), *batches[7:]]


@pytest.mark.parametrize(
    ("hostile", "given"),
    [
        (_with_bids, {"keep": MostImportant("bid")}),
        (_with_a_row_of_the_far_future, {}),
        (list, {"within": Within(before="100 seconds", after="-20 seconds")}),
        (list, {"within": Within(after="0 seconds")}),
    ],
    ids=["bids", "far future", "negative reach", "no window"],
)
def test_strange_rows_and_windows(hostile: Any, given: dict[str, Any]) -> None:  # noqa: ANN401
    """A restart changes nothing, the budget holds, and a large one loses nothing."""
    batches = hostile(steady_streams(rows=1000, count=12))
    budget = Budget(rows=200, recall=0.8)
    runs = [
        joined(batches, None, budget=budget, restart_every=n, **given) for n in (0, 1)
    ]
    assert runs[0].state_digests == runs[1].state_digests
    assert all(sum(batch.report.resident) <= 200 for batch in runs[0].batches)
    exact = joined(batches, None, **_of_all(given))
    assert joined(batches, 10**6, **given).report.matched == exact.report.matched
