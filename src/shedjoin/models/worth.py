"""The mean importance of a row's results, estimated from importances of recent rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

BINS = 128
_FINEST = -32.0
_PER_OCTAVE = 2.0
_FARTHEST = 1e9
"""Limit of importances in multiples of the mean, so that squared sizes are finite."""


class Worth:
    """Histograms of importance, in which older rows count less.

    A bin is half an octave wide. Zero and negative importances share a bin. In a stream
    without importance, all importances are infinite. Such a stream does not affect the
    importance of results.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    """

    @staticmethod
    def shapes(streams: int) -> tuple[Shape, ...]:
        """Shapes of the arrays for a given number of streams."""
        return ((streams, BINS),) * 2

    def __init__(self, room: Sequence[IntArray]) -> None:
        self.count, self.total = map(reals, room)

    def add(self, stream: IntArray, importance: FloatArray, fade: float) -> None:
        """Count the importances of arrivals, after fading older ones."""
        self.count *= fade
        self.total *= fade
        rows = np.flatnonzero(np.isfinite(importance))
        if rows.size:
            cell = stream[rows] * BINS + _bin(importance[rows])
            size, shape = self.count.size, self.count.shape
            self.count += np.bincount(cell, minlength=size).reshape(shape)
            weight = np.bincount(cell, importance[rows], minlength=size)
            self.total += weight.reshape(shape)

    def mean(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Mean importance of the results of each row with rows of the other streams."""
        out = np.where(np.isinf(importance), 1.0, importance)
        for own in range(len(self.count)):
            count = self._others(self.count, own)
            if not count.any():
                continue
            rows = np.flatnonzero(stream == own)
            there = np.flatnonzero(count)
            total = self._others(self.total, own)
            centre = total[there] / count[there]
            below = np.concatenate([[0.0], np.cumsum(total[there])])
            above = count.sum() - np.concatenate([[0.0], np.cumsum(count[there])])
            at = np.searchsorted(centre, importance[rows])
            mine = importance[rows]
            silent = np.isinf(mine)
            shared = below[at] + np.where(silent, 0.0, mine) * above[at]
            out[rows] = np.where(silent, total.sum(), shared) / count.sum()
        return out

    def relative(self, stream: IntArray, importance: FloatArray) -> FloatArray:
        """Importance of each row, divided by the recent mean of its stream.

        It is 1 if the stream has no importance, or if the mean is not above 0.
        """
        count, total = self.count.sum(axis=1), self.total.sum(axis=1)
        mean = np.divide(total, count, out=np.zeros(count.size), where=count > 0)
        known = (mean > 0)[stream] & np.isfinite(importance)
        out, mean = np.ones(importance.size), mean[stream[known]]
        most = _FARTHEST * mean
        out[known] = np.clip(importance[known], -most, most) / mean
        return out

    @staticmethod
    def _others(table: FloatArray, own: int) -> FloatArray:
        """Sum over all streams but one."""
        others: FloatArray = np.delete(table, own, axis=0).sum(axis=0)
        return others


def _bin(importance: FloatArray) -> IntArray:
    octave = np.log2(np.maximum(importance, 2.0**_FINEST))
    cell: IntArray = (_PER_OCTAVE * (octave - _FINEST)).astype(np.int64)
    return cell.clip(0, BINS - 1)
