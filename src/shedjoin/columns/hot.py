"""Hot columns: key and time of each row, as the integers that the kernels need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.spec.streams import HASH_COLUMN, StreamSpec
from shedjoin.types import IntArray


class Hot(NamedTuple):
    """Key and event time (microseconds) of some rows."""

    key: IntArray
    time: IntArray


def fits_64_bits(kind: pa.DataType) -> bool:
    """Whether values of this type can be compared as 64-bit integers."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )


def as_int64(array: pa.Array) -> IntArray:
    """Bits of a column without nulls as 64-bit integers, zero-copy where possible."""
    integers = as_integers(array).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(integers, np.int64)


def as_integers(array: pa.Array) -> pa.Array:
    """Bits of a column as a column of 64-bit integers."""
    kind = array.type
    if kind == pa.date32():
        array = array.view(pa.int32())
    elif pa.types.is_timestamp(kind) or kind == pa.date64():
        array = array.view(pa.int64())
    if array.type != pa.int64():
        array = pc.cast(array, pa.int64(), safe=False)
    return array


def in_microseconds(array: pa.Array) -> pa.Array:
    """Times in microseconds."""
    if array.type.unit == "us":
        return array
    return pc.cast(array, pa.timestamp("us", array.type.tz), safe=False)


def hot_columns(rows: pa.RecordBatch, stream: StreamSpec, *, direct: bool) -> Hot:
    """Key and time of every row of a batch of that stream.

    Without key columns, all rows get the same key.
    """
    if stream.keys:
        key = as_int64(rows.column(stream.keys[0] if direct else HASH_COLUMN))
    else:
        key = np.zeros(rows.num_rows, np.int64)
    time = as_int64(in_microseconds(rows.column(stream.time)))
    key.flags.writeable = False
    time.flags.writeable = False
    return Hot(key, time)
