"""Inclusion probabilities in proportion to size, at most 1 each."""

from __future__ import annotations

import numpy as np

from shedjoin.plan.model import FloatArray


def pps_scale(memory: float, stored: FloatArray, opposite: FloatArray) -> float:
    """Find the scale at which a sample in proportion to size fills the memory.

    There are groups of tuples, such as all tuples of one value of the key. Group i has
    ``stored[i]`` tuples, each of the size ``opposite[i]``, such as the number of tuples
    of the other stream with the same value. Sizes must be above 0. Each tuple is kept
    with the probability ``min(1, scale * opposite[i])``. The expected number of tuples
    that are kept, ``sum(stored * min(1, scale * opposite))``, is then ``memory``. If
    the memory has room for all tuples, all probabilities are 1.
    """
    common_first = np.argsort(-opposite, kind="stable")
    stored, opposite = stored[common_first], opposite[common_first]
    scales = 1 / opposite
    whole = np.cumsum(stored)
    weighted = np.cumsum((stored * opposite)[::-1])[::-1]
    partial = scales * np.append(weighted[1:], 0.0)
    # Rounding must not make the sums decrease: np.interp needs sorted knots.
    used = np.maximum.accumulate(np.append(0.0, whole + partial))
    return float(np.interp(memory, used, np.append(0.0, scales)))
