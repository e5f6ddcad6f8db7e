"""Inclusion probabilities in proportion to size, at most 1 each."""

from __future__ import annotations

import numpy as np

from shedjoin.plan.model import FloatArray


def pps_scale(memory: float, stored: FloatArray, opposite: FloatArray) -> float:
    """Solve ``sum(stored * min(1, scale * opposite)) = memory`` for the scale."""
    common_first = np.argsort(-opposite, kind="stable")
    stored, opposite = stored[common_first], opposite[common_first]
    scales = 1 / opposite
    whole = np.cumsum(stored)
    weighted = np.cumsum((stored * opposite)[::-1])[::-1]
    partial = scales * np.append(weighted[1:], 0.0)
    # Rounding must not make the sums decrease: np.interp needs sorted knots.
    used = np.maximum.accumulate(np.append(0.0, whole + partial))
    return float(np.interp(memory, used, np.append(0.0, scales)))
