"""The local runner gives the oracle's answer, batch by batch."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from oracle.join import Row, exact_join
from support.keys import key_fields
from support.streams import TIME_TYPE, Case, make_case, note_of, tables

from .runs import differences, run, truth

CHUNK = 20


@pytest.mark.parametrize("first", range(0, 400, CHUNK))
def test_equals_oracle(first: int) -> None:
    problems = [
        line
        for case in map(make_case, range(first, first + CHUNK))
        for line in differences(case, truth(case), run(case))
    ]
    assert not problems, "\n".join(problems[:20])


def whole_row(left: Row, right: Row) -> tuple[Any, ...]:
    """Return every column of a joined row, in order, times as integers."""
    number, extra = left.payload
    first = (*left.key, left.time_us, number, note_of(extra))
    return (*first, right.time_us, *right.payload)


def every_pair(case: Case) -> Counter[tuple[Any, ...]]:
    """Return the oracle's pairs of the whole stream as whole rows."""
    batches = exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    return Counter(whole_row(*pair) for batch in batches for pair in batch.pairs)


@pytest.mark.parametrize("seed", range(16))  # every kind of key twice
def test_columns_and_types_survive(seed: int) -> None:
    case = make_case(seed)
    results = run(case).results
    assert results is not None
    expected = [
        *key_fields(case.key_kind),
        ("left_time", TIME_TYPE),
        ("left_id", pa.int64()),
        ("left_note", pa.string()),
        ("right_time", TIME_TYPE),
        ("right_id", pa.int64()),
        ("right_amount", pa.int32()),
    ]
    assert [(column.name, column.type) for column in results.schema] == expected
    columns = [
        (column.cast(pa.int64()) if column.type == TIME_TYPE else column).to_pylist()
        for column in results.columns
    ]
    assert Counter(zip(*columns, strict=True)) == every_pair(case)


@pytest.mark.parametrize("seed", range(100, 116))
def test_keys_may_have_other_names_on_the_right(seed: int) -> None:
    case = make_case(seed)
    names = {name: f"right_{name}" for name, _ in key_fields(case.key_kind)}
    on = {"left": [*names], "right": [*names.values()]}
    renamed = [
        (left, right.rename_columns([names.get(c, c) for c in right.column_names]))
        for left, right in tables(case)
    ]
    problems = list(differences(case, truth(case), run(case, renamed, on=on)))
    assert not problems, "\n".join(problems)
