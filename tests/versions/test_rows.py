"""Comparison of tables against sets of Python's."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from shedjoin.errors import ColumnTypeError
from shedjoin.versions.rows import Changes, changed, plain, replayed

from .tables import OTHER_NAN, SCHEMA, random_table, row_set, rows_of


@pytest.mark.parametrize("size", [0, 1, 7, 60, 400])
def test_what_came_and_went(size: int, rng: np.random.Generator) -> None:
    for _ in range(20):
        before = plain(random_table(rng, size))
        after = plain(random_table(rng, int(rng.integers(0, size + 2))))
        came, went = changed(before, after)
        assert sorted(map(repr, rows_of(came))) == sorted(
            map(repr, row_set(after) - row_set(before))
        )
        assert sorted(map(repr, rows_of(went))) == sorted(
            map(repr, row_set(before) - row_set(after))
        )


def test_changes_are_replayed(rng: np.random.Generator) -> None:
    for _ in range(20):
        tables = [plain(random_table(rng, int(rng.integers(0, 40)))) for _ in range(6)]
        steps = [changed(a, b) for a, b in pairwise(tables)]
        assert row_set(replayed(tables[0], steps)) == row_set(tables[-1])


def test_every_nan_is_one_and_zero_has_no_sign() -> None:
    before = plain(pa.table({"x": [float("nan"), 0.0, None]}))
    after = plain(pa.table({"x": [None, -0.0, OTHER_NAN]}))
    assert changed(before, after).rows == 0


def test_types_of_databases_are_compared() -> None:
    table = pa.table(
        {
            "b": pa.array([b"x", None], pa.large_binary()),
            "s": pa.array(["x", None], pa.large_string()),
            "d": [Decimal("1.20"), None],
            "day": [date(2024, 1, 1), None],
            "t": pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us")),
            "z": pa.array([1, None], pa.timestamp("us", "Europe/Berlin")),
            "f": pa.array([1.0, None], pa.float32()),
            "yes": [True, None],
        }
    )
    kept = plain(table)
    assert kept.schema.field("s").type == pa.string()
    assert kept.schema.field("z").type == pa.timestamp("us", "UTC")
    changes = changed(kept, kept.slice(1))
    assert changes.went.equals(kept.slice(0, 1))
    assert len(changes.came) == 0


def test_nested_columns_are_refused() -> None:
    with pytest.raises(ColumnTypeError, match="list"):
        plain(pa.table({"x": [[1]]}))


def test_nothing_replayed_is_the_first() -> None:
    first = SCHEMA.empty_table()
    assert replayed(first, []) is first
    assert Changes(first, first).rows == 0
