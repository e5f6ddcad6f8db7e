"""What a result with a row is worth: the importances that streams brought lately."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.words import Shape, reals
from shedjoin.types import SIDES, FloatArray, IntArray

BINS = 128
_FINEST = -32.0
_PER_OCTAVE = 2.0


class Worth:
    """Decayed histograms of importance, in half octaves; zero and below share a bin.

    A side without importance (infinite) has no say in a pair's worth.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes ``SHAPES``.
    """

    SHAPES: tuple[Shape, ...] = ((2, BINS),) * 2

    def __init__(self, room: Sequence[IntArray]) -> None:
        self.count, self.total = map(reals, room)

    def add(self, side: IntArray, importance: FloatArray, fade: float) -> None:
        """Count the importances of arrivals; older ones fade."""
        self.count *= fade
        self.total *= fade
        rows = np.flatnonzero(np.isfinite(importance))
        if rows.size:
            cell = side[rows] * BINS + _bin(importance[rows])
            size = 2 * BINS
            self.count += np.bincount(cell, minlength=size).reshape(2, BINS)
            weight = np.bincount(cell, importance[rows], minlength=size)
            self.total += weight.reshape(2, BINS)

    def mean(self, side: IntArray, importance: FloatArray) -> FloatArray:
        """Mean worth of a pair of each row with an arrival of the other stream."""
        out = np.where(np.isinf(importance), 1.0, importance)
        for own in SIDES:
            count = self.count[1 - own]
            if not count.any():
                continue
            rows = np.flatnonzero(side == own)
            there = np.flatnonzero(count)
            centre = self.total[1 - own][there] / count[there]
            below = np.concatenate([[0.0], np.cumsum(self.total[1 - own][there])])
            above = count.sum() - np.concatenate([[0.0], np.cumsum(count[there])])
            at = np.searchsorted(centre, importance[rows])
            mine = importance[rows]
            silent = np.isinf(mine)
            shared = below[at] + np.where(silent, 0.0, mine) * above[at]
            whole = self.total[1 - own].sum()
            out[rows] = np.where(silent, whole, shared) / count.sum()
        return out


def _bin(importance: FloatArray) -> IntArray:
    octave = np.log2(np.maximum(importance, 2.0**_FINEST))
    cell: IntArray = (_PER_OCTAVE * (octave - _FINEST)).astype(np.int64)
    return cell.clip(0, BINS - 1)
