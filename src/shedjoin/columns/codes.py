"""Order codes: values as 64-bit integers that compare as Spark compares the values.

A floating-point NaN equals a NaN and is greater than all other numbers, and minus zero
equals zero. The code of a floating-point number is its bits. If the number is negative,
the bits below the sign are inverted. So neighbouring codes are neighbouring numbers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shedjoin.columns.hot import as_int64, fits_64_bits
from shedjoin.spec.terms import Kind
from shedjoin.types import IntArray

Reals: TypeAlias = npt.NDArray[np.floating[Any]]

_BITS: dict[Kind, tuple[type[np.signedinteger[Any]], type[np.floating[Any]]]] = {
    "float32": (np.int32, np.float32),
    "float64": (np.int64, np.float64),
}


def kind_of_type(kind: pa.DataType) -> Kind | None:
    """Type in which values are computed, or None if they have no order code."""
    if pa.types.is_float32(kind):
        return "float32"
    if pa.types.is_float64(kind):
        return "float64"
    return "integer" if fits_64_bits(kind) and kind != pa.uint64() else None


def order_codes(column: pa.Array) -> IntArray:
    """Codes of a column without nulls."""
    kind = kind_of_type(column.type)
    if kind in _BITS:
        return codes_of(column.to_numpy(zero_copy_only=False))
    return as_int64(column)


def codes_of(values: Reals) -> IntArray:
    """Codes of floating-point numbers.

    >>> import numpy as np
    >>> codes = codes_of(np.array([np.nan, np.inf, 1.0, 0.0, -0.0, -1.0]))
    >>> np.diff(codes).tolist()[2:4], bool((np.diff(codes) <= 0).all())
    ([-4607182418800017408, 0], True)
    """
    values = values + values.dtype.type(0)  # minus zero becomes zero
    values[np.isnan(values)] = np.nan
    bits = values.view(np.dtype(f"i{values.itemsize}"))
    return _turned(bits).astype(np.int64)


def values_of(codes: IntArray, kind: Kind) -> Reals:
    """Floating-point numbers that have these codes."""
    bits, real = _BITS[kind]
    return _turned(codes.astype(bits)).view(real)


def _turned(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Invert the bits below the sign if the sign is set; a second call undoes this."""
    width = 8 * bits.itemsize - 1
    turn: npt.NDArray[Any] = bits ^ (
        (bits >> width) & bits.dtype.type((1 << width) - 1)
    )
    return turn
