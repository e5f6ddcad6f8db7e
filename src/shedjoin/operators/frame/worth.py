"""Computes the importance of results from the importances of their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.spec.shedding import Combine
from shedjoin.types import FloatArray

_GREATEST = 1e150


def combined(worth: Sequence[FloatArray], combine: Combine) -> FloatArray:
    """Importance of results, computed from the importances of their rows.

    Infinite values mean that a stream has no importance, and are ignored. If all values
    of a result are infinite, its importance is 1.

    >>> import numpy as np
    >>> rows = [np.array([2.0, np.inf]), np.array([5.0, np.inf])]
    >>> combined(rows, "min").tolist(), combined(rows, "sum").tolist()
    ([2.0, 1.0], [7.0, 1.0])
    """
    each = np.stack(worth)
    says = np.isfinite(each)
    found: FloatArray
    if combine == "min":
        found = each.min(axis=0)
    elif combine == "max":
        found = np.where(says, each, -np.inf).max(axis=0)
    elif combine == "product":
        with np.errstate(over="ignore"):  # an infinite product would make sums NaN
            found = np.where(says, each, 1.0).prod(axis=0).clip(-_GREATEST, _GREATEST)
    else:
        found = np.where(says, each, 0.0).sum(axis=0)
        if combine == "mean":
            found = found / np.maximum(says.sum(axis=0), 1)
    return np.where(says.any(axis=0), found, 1.0)
