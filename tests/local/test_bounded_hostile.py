"""Memory budgets of several streams where rows, budgets and values are unusual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Band, Budget, MostResults, local
from shedjoin.policies import Fifo, Policy
from shedjoin.types import IntArray
from support.asked import asked
from support.recalls import recalls

SECOND = 1_000_000
NAMES = "abc"
HUGE = 25_000


def keys(rng: np.random.Generator, rows: int) -> IntArray:
    """60 keys, some of them frequent."""
    chance = 1 / np.arange(1, 61) ** 0.9
    return rng.choice(60, rows, p=chance / chance.sum())


def table(time_us: IntArray, key: IntArray, **columns: Any) -> pa.Table:  # noqa: ANN401
    time = pa.array(100 * SECOND + time_us, pa.timestamp("us"))
    return pa.table({"t": time, "k": key, "id": np.arange(key.size), **columns})


def cut(seconds: int, total: int = 160, rate: int = 10) -> list[dict[str, pa.Table]]:
    """The same rows in micro-batches of so many seconds."""
    rng, whole = np.random.default_rng(1), {}
    for name in NAMES:
        time = np.sort(rng.integers(0, total * SECOND, total * rate))
        whole[name] = table(time, keys(rng, time.size))
    ends = range(0, total, seconds)
    return [
        {name: own.filter(_within(own, start, seconds)) for name, own in whole.items()}
        for start in ends
    ]


def _within(own: pa.Table, start: int, seconds: int) -> pa.Array:
    second = own["t"].cast(pa.int64()).to_numpy() // SECOND - 100
    return pa.array((second >= start) & (second < start + seconds))


def joined(
    batches: list[dict[str, pa.Table]],
    on: Any = "k",  # noqa: ANN401
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    times = dict.fromkeys(batches[0], "t")
    return local.multijoin(
        batches, on=on, within="20 seconds", time=times, **asked(settings)
    )


def test_what_is_found_hardly_depends_on_micro_batches() -> None:
    """Rows whose time is over within a long micro-batch make room for others."""
    exact = joined(cut(10)).report.matched
    found = [
        joined(cut(seconds), budget=Budget(rows=150)).report.matched / exact
        for seconds in (2, 10, 40, 160)
    ]
    assert min(found) > 0.9 * max(found)


@pytest.mark.parametrize("keep", [MostResults(), Fifo()], ids=str)
def test_a_row_larger_than_the_budget_does_not_empty_it(
    keep: MostResults | Policy,
) -> None:
    found = []
    for huge in (0, HUGE):
        rng, batches = np.random.default_rng(1), []
        for number in range(10):
            batch = {}
            for name in NAMES:
                time = np.sort(rng.integers(0, 10 * SECOND, 80)) + 10 * number * SECOND
                note = ["x"] * 80
                if name == "a":
                    note[75] = "x" * max(1, huge)
                batch[name] = table(time, keys(rng, 80), note=note)
            batches.append(batch)
        run = joined(batches, budget=Budget(memory=20_000), keep=keep)
        found.append(run.report.matched)
        residents = [sum(batch.report.resident) for batch in run.batches[3:]]
        assert min(residents) > 100
    assert found[1] > 0.9 * found[0]


@pytest.mark.parametrize("rows", [3, 6, 8])
@pytest.mark.parametrize("streams", [3, 4, 5])
def test_parts_of_a_small_budget_add_up_to_it(rows: int, streams: int) -> None:
    pools = Budget(rows=rows, split=[1 / streams] * streams).by_pool(rows, streams)
    assert sum(pools) == rows
    assert max(pools) - min(pools) <= 1


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_recall_of_a_band_is_told_or_not_known(apart: float) -> None:
    """Where all matches lie across the border of two cells, none of them tell."""
    rng, batches = np.random.default_rng(2), []
    for number in range(6):
        batch = {}
        for name, offset in (("a", 0.85), ("b", 0.85 + apart)):
            time = np.sort(rng.integers(0, 10 * SECOND, 400)) + 10 * number * SECOND
            key = rng.integers(0, 60, 400)
            batch[name] = table(time, key, x=10 * key + offset)
        batches.append(batch)
    exact = joined(batches, Band("x", 1.0)).report.matched
    report = joined(batches, Band("x", 1.0), budget=Budget(rows=200)).report
    if apart:
        assert report.recall is None
    else:
        assert report.recall == pytest.approx(report.matched / exact, abs=0.1)


def test_a_smaller_budget_keeps_what_is_worth_most() -> None:
    """Models of another size begin anew: they learn from the residents first."""
    batches = cut(10)
    exact = [batch.report.matched for batch in joined(batches).batches]
    change = {8: [{"budget": {"rows": 100}}]}
    run = joined(batches, budget=Budget(rows=600), control=change)
    always = joined(batches, budget=Budget(rows=100))
    after = slice(9, 12)
    kept = sum(batch.report.matched for batch in run.batches[after])
    usual = sum(batch.report.matched for batch in always.batches[after])
    assert kept > 0.8 * usual
    _check_told(run, exact, range(8, len(batches)))


@pytest.mark.parametrize("on", ["k", Band("k", 0)], ids=["key", "band"])
def test_recall_is_not_told_where_a_budget_has_gone(on: str | Band) -> None:
    """It is started without one; a message gives it one for a while."""
    batches = cut(10)
    exact = [batch.report.matched for batch in joined(batches, on).batches]
    changes = {4: [{"budget": {"rows": 100}}], 8: [{"budget": "as started"}]}
    run = joined(batches, on, control=changes)
    _check_told(run, exact, range(8, len(batches)))
    assert [batch.report.matched for batch in run.batches[12:]] == exact[12:]


def _check_told(run: local.Run, exact: list[int], numbers: range) -> None:
    """Recall of some micro-batches is not known, or near the truth."""
    told = recalls(run)
    assert told[-1] is not None
    for number in numbers:
        true = run.batches[number].report.matched / exact[number]
        one = told[number]
        assert one is None or abs(one - true) < 0.3
