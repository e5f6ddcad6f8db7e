"""Order by results per work."""

from __future__ import annotations

import numpy as np

from shedjoin.plan.model import FloatArray
from shedjoin.types import IntArray

_DIGITS = 12
"""Ratios whose mantissas agree to so many digits count as equal."""


def by_ratio(results: FloatArray, work: FloatArray) -> IntArray:
    """Indices in descending order of results per work; ties keep the given order.

    Results that need no work come first.

    Examples
    --------
    >>> by_ratio(np.array([1.0, 3.0, 0.3]), np.array([1.0, 2.0, 0.1])).tolist()
    [2, 1, 0]
    """
    ratio = np.where(results > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):  # almost no work counts as none
        np.divide(results, work, out=ratio, where=work > 0)
    mantissa, exponent = np.frexp(ratio)
    return np.argsort(-np.ldexp(np.round(mantissa, _DIGITS), exponent), kind="stable")
