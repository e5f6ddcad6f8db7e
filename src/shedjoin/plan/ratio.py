"""The order of things by what they yield for their work."""

from __future__ import annotations

import numpy as np

from shedjoin.plan.model import FloatArray
from shedjoin.types import IntArray

_DIGITS = 12
"""Digits after which two ratios are one number, rounded twice."""


def by_ratio(results: FloatArray, work: FloatArray) -> IntArray:
    """Places from the most results per work down; among equals in the given order.

    Results that need no work come first.

    Examples
    --------
    >>> by_ratio(np.array([1.0, 3.0, 0.3]), np.array([1.0, 2.0, 0.1])).tolist()
    [2, 1, 0]
    """
    ratio = np.where(results > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):  # next to no work is no work
        np.divide(results, work, out=ratio, where=work > 0)
    mantissa, exponent = np.frexp(ratio)
    return np.argsort(-np.ldexp(np.round(mantissa, _DIGITS), exponent), kind="stable")
