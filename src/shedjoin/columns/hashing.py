"""Hashes of rows by the values of several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shedjoin.columns.hot import as_int64, as_integers, fits_64_bits
from shedjoin.errors import ColumnTypeError
from shedjoin.types import IntArray


def hash_rows(columns: Sequence[pa.Array]) -> IntArray:
    """Hash rows by some columns; a null hashes like zero or empty text."""
    # Importing compiled kernels takes time, and only this function needs them.
    from shedjoin.kernels.hashing import chain_bytes, chain_words

    out = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if fits_64_bits(column.type):
            out = chain_words(out, as_int64(as_integers(column).fill_null(0)))
        elif pa.types.is_floating(column.type):
            known = column.cast(pa.float64()).fill_null(0.0)
            plain = known.to_numpy(zero_copy_only=False) + 0.0
            plain[np.isnan(plain)] = np.nan
            out = chain_words(out, plain.view(np.int64))
        else:
            text = _as_binary(column)
            offset, data = text.buffers()[1:]
            places = np.frombuffer(offset, np.int32)[text.offset :][: len(text) + 1]
            letters = np.frombuffer(data or b"", np.uint8)
            out = chain_bytes(out, places, letters)
    return out


def is_hashed(kind: pa.DataType) -> bool:
    """Whether columns of a type can be hashed by :func:`hash_rows`."""
    return bool(
        fits_64_bits(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or kind in (pa.string(), pa.binary())
    )


def _as_binary(column: pa.Array) -> pa.Array:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    try:
        return column.cast(pa.binary())
    except pa.ArrowNotImplementedError as error:
        raise ColumnTypeError(
            f"a key of type {column.type} cannot be hashed here.",
            fix="join by integers, text, bytes, decimals, dates or timestamps.",
        ) from error
