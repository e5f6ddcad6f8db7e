"""What a join by predicates holds in memory does not follow what it gives out."""

from __future__ import annotations

import tracemalloc

import pytest

from shedjoin.operators.frame import results
from shedjoin.spec.terms import BandTerm, CompareTerm, Term

from .shards import SECOND, Shard, blob_of, spec_of

EVERYBODY = BandTerm(("x",) * 3, 10.0, "float64")
UNLIKE = CompareTerm((0, 1), ("id", "id"), "!=", "integer")


def crowd(stream: int, rows: int) -> list[tuple[int, int, float, int]]:
    return [(1, 100 * SECOND + n, n / rows, 1000 * stream + n) for n in range(rows)]


@pytest.mark.parametrize("term", [EVERYBODY, UNLIKE], ids=["sorted", "nested loop"])
@pytest.mark.parametrize("room", [1, 7, 1000])
def test_results_come_in_bounded_batches(
    term: Term, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ROOM", room)
    shard = Shard(spec_of(3, (term,), keyed=False))
    outcome = shard.run([blob_of(n, crowd(n, 12)) for n in range(3)], 0)
    assert outcome.report.matched == 12**3
    assert max(batch.num_rows for batch in outcome.results) <= room


@pytest.mark.parametrize("term", [EVERYBODY, UNLIKE], ids=["sorted", "nested loop"])
def test_memory_of_a_large_product_is_flat(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ROOM", 1000)
    shard = Shard(spec_of(3, (term,), keyed=False))
    shard.run([blob_of(n, crowd(n, 100)) for n in range(2)], 0)
    step = shard.join.step([blob_of(2, crowd(2, 100))], 0)
    peaks, given = [], 0
    tracemalloc.start()
    for batch in step:
        given += batch.num_rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
    tracemalloc.stop()
    assert given == 100**3
    assert max(peaks) < 2_000_000  # all results at once would be 24 MB of places
