"""The number of bytes of each row of a batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.types import FloatArray, IntArray

_OFFSET_BYTES = 4
_BIT = 0.125
_TEXT = (
    pa.types.is_string,
    pa.types.is_binary,
    pa.types.is_large_string,
    pa.types.is_large_binary,
)
_LISTS = pa.types.is_list, pa.types.is_large_list, pa.types.is_map
_OF_ONE_WIDTH = (
    pa.types.is_primitive,
    pa.types.is_decimal,
    pa.types.is_fixed_size_binary,
)


def row_sizes(rows: pa.RecordBatch) -> IntArray:
    """Bytes of each row, rounded up; they add up to about the batch's own size.

    The bytes of a row do not depend on the rows that it comes with.
    """
    total = np.zeros(rows.num_rows)
    for column in rows.columns:
        total += _sizes(column)
    return np.ceil(total).astype(np.int64)


def _sizes(column: pa.Array) -> FloatArray | float:
    kind = column.type
    if pa.types.is_dictionary(kind):  # it may have values of other rows
        return _sizes(column.dictionary_decode())
    size: FloatArray | float = column.nbytes / max(1, len(column))
    if pa.types.is_boolean(kind):
        size = _BIT
    elif any(known(kind) for known in _TEXT):
        length = pc.fill_null(pc.binary_length(column), 0)
        size = length.to_numpy(zero_copy_only=False) + float(2 * _OFFSET_BYTES)
    elif any(known(kind) for known in _LISTS):
        size = _list_sizes(column)
    elif pa.types.is_fixed_size_list(kind):
        first, count = column.offset * kind.list_size, len(column) * kind.list_size
        each = np.broadcast_to(_sizes(column.values.slice(first, count)), count)
        size = each.reshape(len(column), kind.list_size).sum(axis=1)
    elif pa.types.is_struct(kind):
        size = sum((_sizes(field) for field in column.flatten()), 0.0)
    elif any(known(kind) for known in _OF_ONE_WIDTH):
        size = kind.bit_width * _BIT
    return size + _BIT  # the validity bit


def _list_sizes(column: pa.Array) -> FloatArray:
    """Bytes of each list, from the sizes of its elements."""
    if pa.types.is_map(column.type):
        values = pa.StructArray.from_arrays([column.keys, column.items], ["k", "v"])
        offsets = column.offsets.to_numpy()  # column.keys holds the keys of all rows
    else:
        values = column.flatten()
        count = pc.fill_null(pc.list_value_length(column), 0)
        offsets = np.concatenate([[0], np.cumsum(count.to_numpy(zero_copy_only=False))])
    each = np.broadcast_to(_sizes(values), len(values))
    before = np.concatenate([[0.0], np.cumsum(each)])
    length: FloatArray = np.diff(before[offsets])
    return length + _OFFSET_BYTES
