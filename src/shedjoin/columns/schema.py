"""Converts rows to a schema that does not depend on the Spark session.

Stored rows are joined with rows of a later session. Spark labels timestamps with the
session's time zone, marks columns that cannot be null, and gives text offsets of 32 or
64 bits depending on a setting. All of this may change between two starts of a query,
although the rows are the same. Importance is not stored with a row either: it has a
column of its own in the index, and its definition may change.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shedjoin.spec.streams import IMPORTANCE_COLUMN

_SMALL = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}


def as_stored(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as they are stored: in the plain schema and without their importance."""
    names = [name for name in rows.schema.names if name != IMPORTANCE_COLUMN]
    return plain(rows.select(names))


def plain(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with timestamps in UTC, small offsets and all columns nullable.

    Where possible, the values are shared with ``rows``, not copied.
    """
    columns = [_plain_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(columns, rows.schema.names)


def _plain_array(array: pa.Array) -> pa.Array:
    kind = plain_type(array.type)
    return array if kind == array.type else array.cast(kind)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Remove from a type whatever depends on the session."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, plain_type(f.type)) for f in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return _SMALL.get(kind, kind)


def sound(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows whose nested columns have all their buffers.

    Spark before 4.3 sends an empty list of lists without offsets. Reading the size of
    such a column crashes the process. Taking rows of it is safe, and adds the offsets.
    """
    if any(pa.types.is_nested(column.type) for column in rows.columns):
        return rows.take(pa.array(np.arange(rows.num_rows)))
    return rows
