"""One schema for the same columns, whatever session they were read in.

Stored rows meet rows of a later session. Spark labels timestamps with the session's
time zone and marks columns that cannot be null; neither is part of a row, and both may
change between two starts of a query.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def plain(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with timestamps in UTC and all columns nullable; values are shared."""
    columns = [_plain_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(columns, rows.schema.names)


def _plain_array(array: pa.Array) -> pa.Array:
    kind = plain_type(array.type)
    return array if kind == array.type else array.cast(kind)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Drop what depends on the session from a type."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, plain_type(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return kind


def sound(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows whose nested columns have all their buffers.

    An empty list of lists comes without offsets from Spark before 4.3, and asking for
    its size then crashes the process; taking its rows does not, and adds them.
    """
    if any(pa.types.is_nested(column.type) for column in rows.columns):
        return rows.take(pa.array(np.arange(rows.num_rows)))
    return rows
