"""State of a join by predicates: any way of going on gives the same, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from shedjoin.columns import batches
from shedjoin.columns.arrivals import Blob
from shedjoin.operators.frame import results
from shedjoin.operators.frame.join import Outcome
from shedjoin.operators.multiway import store
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.budget import Budget
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import BandTerm, CheckTerm, CompareTerm, Term
from shedjoin.state import merging
from shedjoin.state.blobs import DIRECTORY, FACTS

from .shards import SECOND, Rows, Shard, blob_of, spec_of

TERMS: dict[str, tuple[Term, ...]] = {
    "band": (BandTerm(("x",) * 3, 0.3, "float64"),),
    "comparison": (CompareTerm((0, 2), ("x", "x"), "<", "float64"),),
    "difference": (CompareTerm((0, 1), ("id", "id"), "!=", "integer"),),
    "function": (CheckTerm((0, 1, 2), ("x",) * 3, lambda a, b, c: a < b + c),),
}


@pytest.fixture(params=[True, False], ids=["small", "usual"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes so small that short streams are cleaned, merged and cut; or not."""
    if request.param:
        monkeypatch.setattr(store, "_SLACK_ROWS", 8)
        monkeypatch.setattr(merging, "_SMALLEST_BYTES", 100)
        monkeypatch.setattr(merging, "SMALL_BYTES", 2000)
        monkeypatch.setattr(results, "ROOM", 64)
        monkeypatch.setattr(batches, "CHUNK_BYTES", 800)


def stream(seed: int, count: int) -> Iterator[tuple[list[Blob], int]]:
    """Micro-batches and watermarks; a few rows lie far ahead and hold segments back."""
    random, number = Random(seed), 0

    def rows(now_us: int) -> Rows:
        nonlocal number
        number += 10
        return [
            (
                random.randrange(3),
                now_us + random.randrange(-4 * SECOND, 4 * SECOND)
                + 60 * SECOND * (random.random() < 0.05),
                random.gauss(0, 1),
                number + n,
            )
            for n in range(random.randrange(5))
        ]  # fmt: skip

    for beat in range(count):
        now_us = (100 + 2 * beat) * SECOND
        arrived = [blob_of(n, rows(now_us)) for n in range(3)]
        yield arrived, (now_us - 5 * SECOND) // 1000


def rows_in(found: list[pa.RecordBatch]) -> list[str]:
    return sorted(str(row) for batch in found for row in batch.to_pylist())


def contents(found: list[pa.RecordBatch]) -> list[object]:
    return [batch.to_pydict() for batch in found]


def any_way_of_going_on(
    spec: JoinSpec, folder: Path, beats: int, other_files: int = 0
) -> Iterator[Outcome]:
    """What micro-batches give, compared: steadily, restored, and reopened."""
    steady, restored, reopened = Shard(spec), Shard(spec), Shard(spec, folder)
    for beat, (arrived, watermark_ms) in enumerate(stream(5, beats)):
        if beat % 2:
            restored.start()
        if beat:
            reopened.start(opened=beat % 5 > 0)
        shards = (steady, restored, reopened)
        first, *others = [shard.run(arrived, watermark_ms) for shard in shards]
        for other in others:
            assert contents(other.results) == contents(first.results)
            assert repr(other.report) == repr(first.report)  # NaN, too
        assert len({shard.blobs.digest() for shard in shards}) == 1
        yield first
    # Tiers and segments that are gone leave no files.
    kept = reopened.join.store
    assert isinstance(kept, store.MultiwayStore)
    tiers = [len(some) for own in kept.windows for some in own.tiers.values()]
    assert reopened.files == sum(tiers) + len(kept.payload.segments) + other_files


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("keyed", [True, False], ids=["keyed", "keyless"])
@pytest.mark.parametrize("name", TERMS)
def test_the_same_whether_restored_reopened_or_neither(
    name: str, keyed: bool, tmp_path: Path
) -> None:
    spec = spec_of(3, TERMS[name], keyed=keyed)
    found = any_way_of_going_on(spec, tmp_path, 30)
    assert sum(outcome.report.matched for outcome in found) > 20


def retried(spec: JoinSpec, orders: list[int]) -> set[tuple[bytes, str]]:
    """What a micro-batch gives on the same state, its blobs delivered in some order."""
    found = set()
    for turn in orders:
        shard = Shard(spec)
        for arrived, watermark_ms in stream(9, 12):
            outcome = shard.run(arrived[turn:] + arrived[:turn], watermark_ms)
        found.add((shard.blobs.digest(), str(contents(outcome.results))))
    return found


@pytest.mark.parametrize("name", TERMS)
def test_a_repeated_micro_batch_gives_the_same_bytes(name: str) -> None:
    assert len(retried(spec_of(3, TERMS[name]), [0, 0, 1, 2])) == 1


def test_all_that_has_expired_is_gone() -> None:
    shard = Shard(spec_of(3, TERMS["band"]))
    for arrived, watermark_ms in stream(3, 10):
        shard.run(arrived, watermark_ms)
    report = shard.run([], 10**9).report
    assert report.resident == (0, 0, 0)
    assert report.segments == 0
    assert report.state_bytes == 0
    assert {number for number, _ in shard.blobs.items()} == {DIRECTORY, FACTS}


def test_a_budget_may_come_and_go() -> None:
    """State that was written without a budget is read as nothing learned."""
    spec = spec_of(3, TERMS["band"])
    limited = spec.with_shedding(shedding_of(Budget(cpu=0.5), None, by_predicates=True))
    steady, changed = Shard(spec), Shard(spec)
    for beat, (arrived, watermark_ms) in enumerate(stream(5, 24)):
        if beat % 4 == 0:
            changed.start(limited if beat % 8 else spec)
        first, other = (shard.run(arrived, watermark_ms) for shard in (steady, changed))
        assert rows_in(first.results) == rows_in(other.results)
        assert first.report.matched == other.report.matched
