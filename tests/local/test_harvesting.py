"""A throttled join by predicates finds what it learned to look for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Band, Budget, Where, local
from shedjoin.operators.multiway.harvesting import Harvesting
from shedjoin.operators.multiway.learned import Learned
from shedjoin.policies import Harvest, RandomDrop
from shedjoin.spec.report import Report
from support.asked import asked

RATE, BATCH_S = 100, 5
CPU = Budget(cpu=0.5)


def batches(lags_s: Sequence[float | None], seed: int = 0) -> list[dict[str, pa.Table]]:
    """Rows of b match rows of a that came so much earlier; None is any time."""
    rng = np.random.default_rng(seed)

    def table(number: int, lag_s: float | None) -> pa.Table:
        start = 1000 + BATCH_S * number
        time = np.sort(start + BATCH_S * rng.random(RATE * BATCH_S))
        x = rng.integers(0, 2000, time.size)
        if lag_s is not None:  # what happens in a tenth of a second is alike
            x = np.floor(10 * (time - lag_s)).astype(np.int64) * 7919 % 100_003
        at = pa.array((1e6 * time).astype(np.int64), pa.timestamp("us"))
        return pa.table({"at": at, "x": x})

    return [
        {"a": table(n, None if lag is None else 0.0), "b": table(n, lag)}
        for n, lag in enumerate(lags_s)
    ]


def joined(
    tables: list[dict[str, pa.Table]],
    share: float,
    **settings: Any,  # noqa: ANN401
) -> local.Run:
    settings.setdefault("budget", CPU)
    settings.setdefault("control", {0: [{"throttle": {"share": share}}]})
    settings.setdefault("on", Band("x", 0))
    settings.setdefault("within", "20 seconds")
    return local.multijoin(tables, time={"a": "at", "b": "at"}, **asked(settings))


def matched(run: local.Run, first: int = 0) -> int:
    return sum(batch.report.matched for batch in run.batches[first:])


def work(run: local.Run, first: int) -> float:
    reports = [batch.report for batch in run.batches[first:]]
    return sum(report.looked + report.matched for report in reports)


def test_a_fixed_lag_is_found() -> None:
    tables = batches([5.0] * 16)
    exact = joined(tables, 1.0)
    harvest, dropped = joined(tables, 0.2), joined(tables, 0.2, keep=RandomDrop())
    assert matched(exact) > 10_000
    assert matched(harvest) > 0.8 * matched(exact)
    assert matched(dropped) < 0.3 * matched(exact)
    assert harvest.report.shed == (0, 0)
    # What is said of it is true, and the work is what was allowed.
    assert harvest.report.recall == pytest.approx(
        matched(harvest) / matched(exact), abs=0.1
    )
    assert work(harvest, 8) == pytest.approx(0.2 * work(exact, 8), rel=0.2)


def test_a_lag_that_jumps_is_followed() -> None:
    tables = batches([5.0] * 10 + [15.0] * 14)
    exact, harvest = joined(tables, 1.0), joined(tables, 0.2)
    found = [batch.report.matched for batch in harvest.batches]
    there = [batch.report.matched for batch in exact.batches]
    assert sum(found[15:]) > 0.8 * sum(there[15:]) > 0


def test_too_much_work_is_not_held_against_lags_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One micro-batch that was far off made lags look bad, and none were tried."""
    tables = batches([5.0] * 30)
    exact, ended, end = joined(tables, 1.0), [], Harvesting.end

    def far_off_once(harvesting: Harvesting, report: Report) -> Report:
        ended.append(report)
        found = end(harvesting, report)
        if len(ended) == 8:
            harvesting.learned.paced[:] = 1e7, 1e6
        return found

    monkeypatch.setattr(Harvesting, "end", far_off_once)
    harvest = joined(tables, 0.1)
    assert matched(harvest, 24) > 0.7 * matched(exact, 24) > 0


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_work_is_a_share_of_that_of_the_best_order(share: float) -> None:
    """A slow third stream is best met first, but orders go by lags when throttled."""
    rng = np.random.default_rng(0)
    tables: list[dict[str, pa.Table]] = []
    for number in range(40):
        tables.append({})
        for name, lag_s, rate in (("a", 0, 50), ("b", 5, 50), ("c", 12, 4)):
            time = 1000 + 5 * (number + np.sort(rng.random(5 * rate)))
            x = np.floor(10 * (time - lag_s)).astype(np.int64) * 7919 % 100_003
            at = pa.array((1e6 * time).astype(np.int64), pa.timestamp("us"))
            tables[-1][name] = pa.table({"at": at, "x": x})
    exact, harvest = (
        local.multijoin(
            tables,
            on=Band("x", 0),
            within="20 seconds",
            time=dict.fromkeys("abc", "at"),
            budget=CPU,
            control={0: [{"throttle": {"share": part}}]},
        )
        for part in (1.0, share)
    )
    assert work(harvest, 10) < 1.3 * share * work(exact, 10)


def test_without_correlation_it_is_as_good_as_dropping() -> None:
    tables = batches([None] * 16)
    harvest, dropped = joined(tables, 0.3), joined(tables, 0.3, keep=RandomDrop())
    assert matched(harvest, 4) > 0.95 * matched(dropped, 4) > 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("on", [Band("x", 20), Where("a.x", "<", "b.x")], ids=repr)
def test_without_correlation_a_part_of_the_work_finds_that_part(
    on: Band | Where, share: float
) -> None:
    """Also with an index, where the work of chosen lags is more than it seems."""
    tables = batches([None] * 14)
    exact, harvest = joined(tables, 1.0, on=on), joined(tables, share, on=on)
    assert matched(harvest, 5) == pytest.approx(share * matched(exact, 5), rel=0.15)
    assert work(harvest, 5) == pytest.approx(share * work(exact, 5), rel=0.15)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_rows_that_do_not_wait_cost_nothing(share: float) -> None:
    """Only rows of a are kept: those of a have nobody to look at."""
    tables = batches([None] * 14)
    within = {"a": "10 seconds", "b": "0 seconds"}
    exact = joined(tables, 1.0, on=Band("x", 20), within=within)
    harvest = joined(tables, share, on=Band("x", 20), within=within)
    assert work(harvest, 5) == pytest.approx(share * work(exact, 5), rel=0.2)


def test_a_stream_that_was_quiet_does_not_come_back_at_full_work() -> None:
    tables = batches([None] * 26)
    for number in range(10, 20):
        tables[number]["b"] = tables[number]["b"].slice(0, 0)
    exact, harvest = (joined(tables, share, on=Band("x", 20)) for share in (1.0, 0.1))
    for number in range(20, 26):
        whole = exact.batches[number].report
        done = harvest.batches[number].report
        assert done.looked < 0.3 * whole.looked


def test_a_stream_that_trickled_comes_back_within_its_share() -> None:
    """While few came, each of them could look at everything."""
    tables = batches([5.0] * 24)
    for number in range(8, 18):
        tables[number]["b"] = tables[number]["b"].slice(0, 2)
    exact, harvest = joined(tables, 1.0), joined(tables, 0.05)
    for first, last in ((18, 19), (18, 21)):
        done, whole = (
            sum(b.report.looked + b.report.matched for b in run.batches[first:last])
            for run in (harvest, exact)
        )
        assert done < 4 * 0.05 * whole


def test_recall_is_not_told_while_dropped_rows_are_missed() -> None:
    tables = batches([None] * 16)
    exact = joined(tables, 1.0)
    opened = {0: [{"throttle": {"share": 0.2}}], 8: [{"throttle": {"share": 1.0}}]}
    run = joined(tables, 1.0, keep=RandomDrop(), control=opened)
    true = [
        found.report.matched / whole.report.matched
        for found, whole in zip(run.batches, exact.batches, strict=True)
    ]
    told = [batch.report.recall for batch in run.batches]
    assert true[8] < 0.9
    assert told[8] is None
    assert true[-1] == told[-1] == 1.0


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
def test_a_small_share_finds_something(share: float) -> None:
    assert matched(joined(batches([5.0] * 16), share)) > 0


def test_no_share_finds_nothing() -> None:
    assert matched(joined(batches([5.0] * 4), 0.0)) == 0


def test_learning_loses_little(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = batches([7.3] * 16)
    learning = joined(tables, 0.1)
    known: list[Learned] = []
    end = Harvesting.end

    def watched(self: Harvesting, report: Any) -> Any:  # noqa: ANN401
        known[:] = [self.learned]
        return end(self, report)

    with monkeypatch.context() as patched:
        patched.setattr(Harvesting, "end", watched)
        joined(tables, 1.0, keep=Harvest(shred=0.5))
    truth, load = known[0], Learned.load
    monkeypatch.setattr(Learned, "load", lambda _, throttle: load(truth, throttle))
    told = joined(tables, 0.1, keep=Harvest(shred=1e-6))
    assert matched(told, 6) > 0
    assert matched(learning, 6) > 0.9 * matched(told, 6)


def test_rows_that_are_dropped_are_not_kept() -> None:
    tables = batches([5.0] * 16)
    exact, dropped = joined(tables, 1.0), joined(tables, 0.2, keep=RandomDrop())
    told = dropped.report
    assert told.unadmitted == sum(told.shed) > 0
    assert told.seen == tuple(map(sum, zip(told.shed, told.stored, strict=True)))
    assert sum(told.resident) < 0.8 * sum(exact.report.resident)
    # An index opens as many windows for fewer residents: less is saved than foreseen.
    assert work(dropped, 8) < 0.4 * work(exact, 8)
    assert told.recall == pytest.approx(matched(dropped) / matched(exact), abs=0.1)


def test_nothing_is_learned_without_a_budget() -> None:
    found = joined(batches([5.0] * 3), 0.5, budget=None)
    assert found.report.looked == 0
    assert matched(found) == matched(joined(batches([5.0] * 3), 1.0))


def test_the_throttle_may_open_and_close() -> None:
    tables = batches([5.0] * 12)
    control = {
        0: [{"throttle": {"share": 0.05}}],
        4: [{"throttle": {"share": 1.0}}],
        8: [{"throttle": {"share": 0.2}}, {"policy": {"name": "RandomDrop"}}],
    }
    exact = joined(tables, 1.0)
    found = [
        joined(tables, 1.0, control=control, restart_every=restart)
        for restart in (0, 3)
    ]
    assert found[0].state_digests == found[1].state_digests
    recall = [
        sum(b.report.matched for b in found[0].batches[part])
        / sum(b.report.matched for b in exact.batches[part])
        for part in (slice(0, 4), slice(4, 8), slice(8, 12))
    ]
    assert recall[0] < 1
    assert recall[1] == 1
    assert 0 < recall[2] < 1
