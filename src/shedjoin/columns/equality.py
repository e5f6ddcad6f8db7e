"""Null-safe equality of two columns, row by row and vectorised.

The rules are those of Spark for join keys: a NaN equals a NaN, minus zero equals zero,
and inside a nested value a null equals a null.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.types import BoolArray


def equal_rows(a: pa.Array, b: pa.Array) -> BoolArray:
    """Whether two arrays of the same length and type are equal, row by row."""
    null_a, null_b = _nulls(a), _nulls(b)
    either = null_a | null_b
    if either.any():
        out = null_a & null_b
        rows = np.flatnonzero(~either)
        out[rows] = _equal_values(a.take(pa.array(rows)), b.take(pa.array(rows)))
        return out
    return _equal_values(a, b)


def _equal_values(a: pa.Array, b: pa.Array) -> BoolArray:
    kind = a.type
    if pa.types.is_struct(kind):
        out = np.ones(len(a), np.bool_)
        for left, right in zip(a.flatten(), b.flatten(), strict=True):
            out &= equal_rows(left, right)
        return out
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _equal_lists(a, b)
    out = _bools(pc.equal(a, b))
    if pa.types.is_floating(kind):
        out |= _bools(pc.is_nan(a)) & _bools(pc.is_nan(b))
    return out


def _equal_lists(a: pa.Array, b: pa.Array) -> BoolArray:
    length = pc.list_value_length(a).to_numpy(zero_copy_only=False)
    out: BoolArray = length == pc.list_value_length(b).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(out)
    same = pa.array(rows)
    items = equal_rows(pc.list_flatten(a.take(same)), pc.list_flatten(b.take(same)))
    wrong = np.repeat(rows, length[rows])[~items]
    out[wrong] = False
    return out


def _nulls(array: pa.Array) -> BoolArray:
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return _bools(pc.is_null(array))


def _bools(array: pa.Array) -> BoolArray:
    out: BoolArray = array.to_numpy(zero_copy_only=False).astype(np.bool_)
    return out
