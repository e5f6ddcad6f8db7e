"""How often each key comes on each stream, older arrivals counting less."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.sketch import DEPTH, add_keys, read_keys
from shedjoin.types import SIDES, FloatArray, IntArray, Side

_RESCALE_AT = 32.0


class Frequency:
    """Decayed counts of keys, in sketches of fixed size.

    An arrival counts one at its own time and half as much a half-life later. Instead
    of fading all counts as time passes, later arrivals are given greater weights; the
    sketches are scaled down before the weights grow large.

    Parameters
    ----------
    width : int
        Cells per row of a sketch, a power of two.
    half_life_us : int
        Event time after which an arrival counts half.
    """

    def __init__(self, width: int, half_life_us: int) -> None:
        self.half_life_us = half_life_us
        self.counts = np.zeros((2, DEPTH * width))
        self.totals = np.zeros(2)
        self.origin_us = np.zeros(1, np.int64)

    def add(self, side: Side, key: IntArray, time: IntArray, clock_us: int) -> None:
        """Count arrivals of one stream, up to ``clock_us``."""
        if not self.totals.any():
            self.origin_us[0] = clock_us
        if self._halvings(clock_us) > _RESCALE_AT:
            factor = 0.5 ** self._halvings(clock_us)
            self.counts *= factor
            self.totals *= factor
            self.origin_us[0] = clock_us
        weight = np.exp2((time - self.origin_us[0]) / self.half_life_us)
        add_keys(key, weight, self.counts[side])
        self.totals[side] += weight.sum()

    def count(self, side: Side, key: IntArray, clock_us: int) -> FloatArray:
        """Decayed count of each key on one stream."""
        return read_keys(key, self.counts[side]) * self._fade(clock_us)

    def total(self, side: Side, clock_us: int) -> float:
        """Decayed count of all arrivals of one stream."""
        return float(self.totals[side] * self._fade(clock_us))

    def opposite_count(
        self, side: IntArray, key: IntArray, clock_us: int
    ) -> FloatArray:
        """Decayed count of each key on the stream opposite to its row's."""
        out = np.empty(key.size)
        for own in SIDES:
            rows = np.flatnonzero(side == own)
            other: Side = 1 if own == 0 else 0
            out[rows] = self.count(other, key[rows], clock_us)
        return out

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """All that has to be stored."""
        return {
            "counts": self.counts.reshape(-1),
            "totals": self.totals,
            "origin_us": self.origin_us,
        }

    def _halvings(self, clock_us: int) -> float:
        return float(clock_us - self.origin_us[0]) / self.half_life_us

    def _fade(self, clock_us: int) -> float:
        return float(0.5 ** self._halvings(clock_us))
