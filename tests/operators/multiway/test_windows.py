"""Basic windows get longer where there would be too many, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from local.predicates import Case
from oracle.predicates import predicate_join
from shedjoin.columns.arrivals import timely
from shedjoin.columns.ipc import decode_rows
from shedjoin.operators.multiway import windows
from shedjoin.operators.multiway.checks import Checks
from shedjoin.operators.multiway.hops import Group, Hops, hop_order
from shedjoin.operators.multiway.join import MultiwayJoin
from shedjoin.operators.multiway.lags import everything
from shedjoin.operators.multiway.partial import Met, Partial
from shedjoin.spec.terms import BandTerm, CompareTerm, Term

from .shards import SECOND, Shard, blob_of, spec_of

BAND = BandTerm(("x", "x"), 1.0, "float64")
BELOW = CompareTerm((0, 1), ("x", "x"), "<=", "float64")


def test_wider_windows_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST", 2)
    widened = 0
    widen = windows.BasicWindows._widen

    def counted(own: windows.BasicWindows) -> None:
        nonlocal widened
        widened += 1
        widen(own)

    monkeypatch.setattr(windows.BasicWindows, "_widen", counted)
    for seed in range(0, 60, 2):
        case = Case(seed)
        expected = predicate_join(case.batches, case.join)
        found = case.run(restart_every=1 + seed % 3, blobs=2)
        for number, batch in enumerate(found.batches):
            assert case.results_of(batch) == expected[number], (seed, number)
    assert widened > 30


def test_few_files_for_rows_that_wait_for_the_watermark(tmp_path: Path) -> None:
    """Rows are kept a second, but the watermark is five minutes behind."""
    rng = np.random.default_rng(1)
    shard = Shard(spec_of(2, (BAND,), keep_s=1, keyed=False), tmp_path)
    times = rng.integers(0, 300 * SECOND, (2, 3000)) + 1000 * SECOND
    for stream in range(2):
        rows = [(1, t, float(n), n) for n, t in enumerate(times[stream].tolist())]
        shard.run([blob_of(stream, rows)], 0)
    assert shard.files < 400


@pytest.mark.parametrize("terms", [(BAND, BELOW), (BELOW, BAND)])
def test_the_order_of_terms_does_not_matter(terms: tuple[Term, ...]) -> None:
    rows = [(1, 100 * SECOND + n, float(n), n) for n in range(500)]
    shard = Shard(spec_of(2, terms, keyed=False))
    shard.run([blob_of(1, rows)], 0)
    assert isinstance(shard.join, MultiwayJoin)
    store = shard.join.store
    (batch,) = decode_rows(blob_of(0, rows).payload)
    hops = Hops(store, timely(0, batch, store.spec, -1))
    looks = everything(store.spec, 0, hop_order(store, 0))
    found = sum(part.num_rows for part in hops.joined([Group(None, looks)]))
    assert found == 2 * 500 - 1
    assert hops.looked < 50 * 500


def test_long_texts_are_asked_about_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow takes no more than 2 GiB of text into one column."""
    values = Checks._values

    def bounded(own: Checks, met: Partial | Met, stream: int, column: str) -> pa.Array:
        if met.arrival.size > 3:
            raise pa.ArrowInvalid("too much text")
        return values(own, met, stream, column)

    monkeypatch.setattr(Checks, "_values", bounded)
    results = 0
    for seed in range(4, 60, 6):
        case = Case(seed)
        expected = predicate_join(case.batches, case.join)
        found = [case.results_of(batch) for batch in case.run().batches]
        assert found == expected
        results += sum(map(len, found))
    assert results > 30
