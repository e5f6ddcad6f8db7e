"""Tables as sets of rows: which rows were inserted, deleted, or are still there.

Rows are compared as in Spark's DISTINCT. A null equals a null, a NaN equals a NaN, and
minus zero equals zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.errors import ColumnTypeError

_PLAIN = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
_MARK = "mark"


class Changes(NamedTuple):
    """Rows that were inserted and rows that were deleted."""

    came: pa.Table
    went: pa.Table

    @property
    def rows(self) -> int:
        """Number of rows that were inserted or deleted."""
        return len(self.came) + len(self.went)


def plain(table: pa.Table) -> pa.Table:
    """A table in the form that is stored: plain types, one NaN, one zero."""
    columns = [_plain_column(table.column(at)) for at in range(table.num_columns)]
    return pa.table(columns, names=table.column_names)


def changed(before: pa.Table, after: pa.Table) -> Changes:
    """Changes that turn ``before`` into ``after``; equal rows count once.

    Examples
    --------
    >>> before = pa.table({"ad": [1, 2]})
    >>> changes = changed(before, pa.table({"ad": [2, 3, 3]}))
    >>> changes.came["ad"].to_pylist(), changes.went["ad"].to_pylist()
    ([3], [1])
    """
    marks = np.repeat(np.array([0, 1], np.int8), [len(before), len(after)])
    found, low, high = _grouped([before, after], marks)
    return Changes(found.filter(pc.equal(low, 1)), found.filter(pc.equal(high, 0)))


def replayed(first: pa.Table, versions: Sequence[Changes]) -> pa.Table:
    """The table after some versions: the last change of each row counts."""
    if not versions:
        return first
    tables, marks = [first], [np.ones(len(first), np.int64)]
    for number, changes in enumerate(versions, 1):
        tables += changes
        marks.append(np.full(len(changes.came), 2 * number + 1))
        marks.append(np.full(len(changes.went), 2 * number))
    found, _, last = _grouped(tables, np.concatenate(marks))
    return found.filter(pc.equal(pc.bit_wise_and(last, 1), 1))


def _grouped(
    tables: Sequence[pa.Table], marks: np.ndarray
) -> tuple[pa.Table, pa.ChunkedArray, pa.ChunkedArray]:
    """Distinct rows of all tables, each with its least and greatest mark."""
    names = tables[0].column_names
    keys = [str(number) for number in range(len(names))]
    both = pa.concat_tables([table.rename_columns(keys) for table in tables])
    both = both.append_column(_MARK, pa.array(marks))
    found = both.group_by(keys, use_threads=False).aggregate(
        [(_MARK, "min"), (_MARK, "max")]
    )
    rows = found.select(keys).rename_columns(names)
    return rows, found[f"{_MARK}_min"], found[f"{_MARK}_max"]


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_nested(kind):
        raise ColumnTypeError(
            f"a column of type {kind} cannot be compared between two versions.",
            fix='read it as text, for example with F.to_json("column").',
        )
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), kind), column)
        zero = pa.scalar(0.0, kind)
        return pc.if_else(pc.equal(column, zero), zero, column)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return column.cast(pa.timestamp(kind.unit, "UTC"))
    return column.cast(_PLAIN.get(kind, kind))
