"""The order of items by their results per work."""

from __future__ import annotations

import numpy as np

from shedjoin.plan.model import FloatArray
from shedjoin.types import IntArray

_DIGITS = 12
"""Mantissas of ratios are rounded to this number of digits before they are compared."""


def by_ratio(results: FloatArray, work: FloatArray) -> IntArray:
    """Indices in descending order of results per work; ties keep the given order.

    Results that need no work come first.

    Examples
    --------
    >>> by_ratio(np.array([1.0, 3.0, 0.3]), np.array([1.0, 2.0, 0.1])).tolist()
    [2, 1, 0]
    """
    ratio = np.where(results > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):  # if there is almost no work
        np.divide(results, work, out=ratio, where=work > 0)
    mantissa, exponent = np.frexp(ratio)
    return np.argsort(-np.ldexp(np.round(mantissa, _DIGITS), exponent), kind="stable")
