"""Outer, semi and anti joins give the oracle's rows, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from oracle.join import Row
from oracle.outer import KINDS, Result, outer_join
from shedjoin import local
from shedjoin.columns.arrivals import KEYLESS
from shedjoin.columns.ipc import decode_rows
from shedjoin.columns.packing import pack
from shedjoin.errors import StateMismatchError
from shedjoin.local.shard import MemoryBlobs
from shedjoin.local.tables import stream_of
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import Opening, commit, stored_directory
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.workspace import MemoryWorkspace
from support.asked import asked
from support.keys import key_fields
from support.streams import TIME_TYPE, Case, make_case, note_of, tables

from .runs import window_of

CHUNK = 10
LEFT_ALONE = ("left_semi", "left_anti")


def joined(case: Case, how: str, **options: Any) -> local.Run:  # noqa: ANN401
    """Join a case locally."""
    names = [name for name, _ in key_fields(case.key_kind)]
    left_ms, right_ms = case.delays_ms
    settings: dict[str, Any] = {"shards": case.shards, **options}
    return local.join(
        tables(case),
        on=names if len(names) > 1 else names[0],
        within=window_of(case),
        how=how,
        time=("left_time", "right_time"),
        lateness=(timedelta(milliseconds=left_ms), timedelta(milliseconds=right_ms)),
        **asked(settings),
    )


def expected(case: Case, how: str) -> list[Counter[tuple[Any, ...]]]:
    """Ask the oracle; every column of a result, in order, times as integers."""
    batches = outer_join(
        case.batches,
        how,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    return [Counter(whole_row(each, how) for each in batch) for batch in batches]


def whole_row(result: Result, how: str) -> tuple[Any, ...]:
    left, right = result
    row = left or right
    assert row is not None
    return (
        *row.key,
        *left_part(left),
        *(() if how in LEFT_ALONE else right_part(right)),
    )


def left_part(row: Row | None) -> tuple[Any, ...]:
    if row is None:
        return (None,) * 3
    return row.time_us, row.payload[0], note_of(row.payload[1])


def right_part(row: Row | None) -> tuple[Any, ...]:
    return (None,) * 3 if row is None else (row.time_us, *row.payload)


def rows_of(results: pa.Table) -> Counter[tuple[Any, ...]]:
    """Rows of a result, times as integers."""
    columns = [
        column.cast(pa.int64()).to_pylist()
        if name.endswith("_time")
        else column.to_pylist()
        for name, column in zip(results.column_names, results.columns, strict=True)
    ]
    return Counter(zip(*columns, strict=True)) if columns else Counter()


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("first", range(0, 100, CHUNK))
def test_equals_oracle(how: str, first: int) -> None:
    for seed in range(first, first + CHUNK):
        case = make_case(seed)
        done = joined(case, how, restart_every=seed % 3, blobs=1 + seed % 2)
        found = [rows_of(batch.results) for batch in done.batches]
        assert found == expected(case, how), f"seed {seed}"
        counts = [batch.report.matched for batch in done.batches]
        assert counts == [rows.total() for rows in found]


def test_the_oracle_emits_rows_without_a_partner() -> None:
    kinds = Counter(
        (how, left is None, right is None)
        for seed in range(40)
        for how in KINDS
        for batch in outer_join(
            make_case(seed).batches,
            how,
            before_us=make_case(seed).before_us,
            after_us=make_case(seed).after_us,
            delays_ms=make_case(seed).delays_ms,
        )
        for left, right in batch
    )
    assert min(kinds.values()) > 20
    assert len(kinds) == 9  # pairs thrice, left thrice and anti, semi, right twice


PAIR: dict[str, Any] = {
    "on": "k",
    "within": "10 seconds",
    "time": ("at", "at"),
}


def rows(*seconds: int) -> pa.Table:
    times = [1_700_000_000_000_000 + 1_000_000 * second for second in seconds]
    key = pa.array([1] * len(times), pa.int64())
    return pa.table({"k": key, "at": pa.array(times, TIME_TYPE)})


def spec_of(how: str) -> JoinSpec:
    streams = [stream_of(rows(1).schema, name) for name in ("left", "right")]
    return join_spec(streams, Asked(how=how, **PAIR), shards=1)


def test_a_checkpoint_of_another_kind_of_join_is_refused() -> None:
    blobs = MemoryBlobs()
    for how, problem in (
        ("left", ""),
        ("full", "it has how='left', the query has how"),
    ):
        spec = spec_of(how)
        if problem:
            with pytest.raises(StateMismatchError, match=problem):
                stored_directory(blobs, spec)
        else:
            opening = Opening(spec, 0, blobs, None, MemoryWorkspace())
            commit(open_join(opening), blobs, "")


def test_a_semi_join_holds_no_left_row_that_has_matched() -> None:
    empty = rows()
    batches = [(rows(1, 2, 3), empty), (empty, rows(4)), (rows(5), empty)]
    for how in LEFT_ALONE:
        run = local.join(batches, how=how, **PAIR)
        assert [batch.report.resident[0] for batch in run.batches] == [3, 0, 0]
    semi = local.join(batches, how="semi", **PAIR)
    assert [batch.results.num_rows for batch in semi.batches] == [0, 3, 1]


def test_a_message_cannot_set_a_budget() -> None:
    control = {0: [{"budget": {"rows": 2}}]}
    run = local.join([(rows(1, 2, 3), rows(4))], how="left", control=control, **PAIR)
    assert run.report.resident == (3, 1)
    assert run.report.recall_state == "exact"


def test_a_key_of_another_name_stays_null() -> None:
    at = pa.array([1_700_000_000_000_000], TIME_TYPE)
    left = pa.table({"b": [1], "c": [1], "lt": at})
    right = pa.table({"b": [7], "rt": at})
    later = pa.array([1_700_000_100_000_000], TIME_TYPE)
    batches = [
        (left.slice(0, 0), right),
        (left.set_column(2, "lt", later), right.set_column(1, "rt", later)),
        (left.slice(0, 0), right.slice(0, 0)),
    ]
    run = local.join(
        batches,
        on={"left": ["b", "c"], "right": ["b", "b"]},
        within="10 seconds",
        how="full",
        time=("lt", "rt"),
    )
    (row,) = run.results.to_pylist()
    assert (row["b"], row["c"], row["lt"]) == (7, None, None)


def test_rows_without_a_key_are_placed_whatever_their_order() -> None:
    nulls = pa.nulls(6, pa.int64())
    table = rows(1, 2, 3, 4, 5, 6).set_column(0, "k", nulls)
    spec = replace(spec_of("left"), shards=4)
    placed = []
    for order in ([0, 1, 2, 3, 4, 5], [3, 2, 5, 1, 0, 4]):
        batch = table.take(pa.array(order)).to_batches()
        blobs = [each for each in pack(batch, 0, spec) if each[1].stream == KEYLESS]
        found = [
            (shard, time)
            for shard, blob in blobs
            for part in decode_rows(blob.payload)
            for time in part.column("at").cast(pa.int64()).to_pylist()
        ]
        placed.append(sorted(found))
    assert placed[0] == placed[1]
    assert len(placed[0]) == 6
