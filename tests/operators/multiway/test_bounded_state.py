"""State under a memory budget: any way of going on gives the same, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, Outcome, stored_directory
from shedjoin.operators.multiway import shedder
from shedjoin.policies import Fifo, Policy, Rand
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.streams import JoinSpec
from shedjoin.state import merging
from shedjoin.state.workspace import MemoryWorkspace

from .shards import Shard, spec_of
from .test_state import TERMS, any_way_of_going_on, contents, rows_in, stream

BUDGETS = {"rows": Budget(rows=12), "bytes": Budget(memory=3000)}


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and segments so small that short streams have many of them."""
    monkeypatch.setattr(shedder, "_LEAST_ROWS", 2)
    monkeypatch.setattr(shedder, "_LEAST_BYTES", 200)
    monkeypatch.setattr(merging, "_SMALLEST_BYTES", 100)


def bounded(terms: str, budget: Budget, keep: Policy | None = None) -> JoinSpec:
    spec = spec_of(3, TERMS.get(terms, ()), keyed=terms != "band")
    return spec.with_shedding(shedding_of(budget, keep))


@pytest.mark.parametrize("keep", [None, Fifo(), Rand(1)], ids=str)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("terms", ["key", "band", "difference"])
def test_the_same_whether_restored_reopened_or_neither(
    terms: str, budget: str, keep: Policy | None, tmp_path: Path
) -> None:
    spec = bounded(terms, BUDGETS[budget], keep)
    shed = 0
    for outcome in any_way_of_going_on(spec, tmp_path, 40, other_files=1):  # models
        report = outcome.report
        assert budget == "bytes" or sum(report.resident) <= 12
        assert budget == "rows" or report.state_bytes <= 3000
        shed += sum(report.shed)
    assert shed > 50


@pytest.mark.parametrize("terms", ["key", "band"])
def test_a_repeated_micro_batch_gives_the_same_bytes(terms: str) -> None:
    spec, found = bounded(terms, Budget(rows=12)), set()
    for turn in (0, 0, 1, 2):
        shard = Shard(spec)
        for arrived, watermark_ms in stream(9, 12):
            outcome = shard.run(arrived[turn:] + arrived[:turn], watermark_ms)
        found.add((shard.blobs.digest(), str(contents(outcome.results))))
    assert len(found) == 1


@pytest.mark.parametrize("terms", ["key", "band"])
def test_an_attempt_leaves_what_it_starts_from(terms: str) -> None:
    """A shard whose files are gone tries again from the directory it has read."""
    spec = bounded(terms, Budget(rows=12))
    shard = Shard(spec)
    beats = list(stream(9, 12))
    for arrived, watermark_ms in beats[:-1]:
        shard.run(arrived, watermark_ms)
    before = stored_directory(shard.blobs, spec)
    found = set()
    for _ in range(2):
        opening = Opening(spec, 0, shard.blobs, before, MemoryWorkspace())
        outcome = Outcome.of(open_join(opening).step(*beats[-1]))
        found.add((str(contents(outcome.results)), repr(outcome.report)))
    assert len(found) == 1
    assert before == stored_directory(shard.blobs, spec)


@pytest.mark.parametrize("terms", ["key", "band", "difference"])
def test_a_budget_that_suffices_may_come_and_go(terms: str) -> None:
    limited = bounded(terms, Budget(rows=1000))
    plain = limited.with_shedding(None)
    steady, changed = Shard(plain), Shard(plain)
    for beat, (arrived, watermark_ms) in enumerate(stream(5, 24)):
        if beat % 4 == 0:
            changed.start(limited if beat % 8 else plain)
        first, other = (shard.run(arrived, watermark_ms) for shard in (steady, changed))
        assert rows_in(first.results) == rows_in(other.results)
        assert first.report.resident == other.report.resident
        assert first.report.expired == other.report.expired


def test_what_was_taken_over_is_cut_to_the_budget() -> None:
    limited = bounded("key", Budget(rows=6))
    shard = Shard(limited.with_shedding(None))
    beats = list(stream(5, 12))
    for arrived, watermark_ms in beats[:-1]:
        before = shard.run(arrived, watermark_ms).report.resident
    shard.start(limited)
    report = shard.run([], beats[-1][1]).report
    assert sum(before) > 12
    assert sum(report.resident) <= 6
    assert sum(before) == report.evicted + sum(report.expired) + sum(report.resident)
    larger = bounded("key", Budget(rows=1000))
    shard.start(larger)
    report = shard.run(*beats[-1]).report
    assert not any(report.shed)
    assert len([n for n, _ in shard.blobs.items() if n >= 0]) == report.segments


def test_all_that_has_expired_is_gone() -> None:
    shard = Shard(bounded("band", Budget(rows=12)))
    for arrived, watermark_ms in stream(3, 10):
        shard.run(arrived, watermark_ms)
    report = shard.run([], 10**9).report
    assert report.resident == (0, 0, 0)
    assert report.segments == 0
    assert report.state_bytes == 0
