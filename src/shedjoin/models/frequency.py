"""How often each key comes on each stream, older arrivals counting less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shedjoin.kernels.rates import FASTER, SHORTEST, read_partners
from shedjoin.kernels.sketch import DEPTH, PACES, add_keys
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

_RESCALE_AT = 512.0
SLOW, FAST = 0, 1


class Frequency:
    """Decayed counts of keys, in sketches of fixed size, at two paces.

    An arrival counts one at its own time and half as much a half-life later. The slow
    pace has little noise; the fast one, ten times as fast, notices when a key becomes
    frequent or rare. A key is taken at the fast pace only where that differs from the
    slow one by more than chance allows.

    Instead of fading all counts as time passes, later arrivals are given greater
    weights; the sketches are scaled down before the weights grow large.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` tells.
    half_life_us : int
        Event time after which an arrival counts half, at the slow pace.
    """

    def __init__(self, room: Sequence[IntArray], half_life_us: int) -> None:
        self.half_life_us = half_life_us
        self.half_lives = half_life_us, max(1, half_life_us // FASTER)
        counts, totals, self.origin_us = room
        self.counts = reals(counts)  # by stream, cell and pace
        self.totals = reals(totals)

    @staticmethod
    def shapes(streams: int, width: int) -> tuple[Shape, ...]:
        """Room for sketches with so many cells a row, a power of two."""
        return (streams, DEPTH * width, PACES), (streams,), (PACES,)

    def add(self, stream: int, key: IntArray, time: IntArray, clock_us: int) -> None:
        """Count arrivals of one stream, up to ``clock_us``."""
        if not self.totals.any():
            self.origin_us[:] = clock_us
        weight = np.empty((key.size, PACES))
        # All before any: totals that fade to nothing look as if nothing had begun.
        fades = [self._fade(pace, clock_us) for pace in (SLOW, FAST)]
        for pace in (SLOW, FAST):
            if self._halvings(pace, clock_us) > _RESCALE_AT:
                self.counts[:, :, pace] *= fades[pace]
                self.totals *= fades[SLOW] if pace == SLOW else 1.0
                self.origin_us[pace] = clock_us
            halvings = (time - self.origin_us[pace]) / self.half_lives[pace]
            weight[:, pace] = np.exp2(halvings)
        add_keys(key, weight.reshape(-1), self.counts[stream].reshape(-1))
        self.totals[stream] += weight[:, SLOW].sum()

    def total(self, stream: int, clock_us: int) -> float:
        """Decayed count of all arrivals of one stream."""
        return float(self.totals[stream] * self._fade(SLOW, clock_us))

    def of_partners(
        self, stream: IntArray, key: IntArray, clock_us: int, passed_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """Count each row's key on the other streams: at the slow pace, and at best.

        At best it is what would be reached if all went on as it did since counting
        began, ``passed_us`` ago, or a 64th of a half-life: in less time than that one
        arrival says too little. The other count is what there is.
        """
        slow, best = np.empty(key.size), np.empty(key.size)
        fade = [self._fade(pace, clock_us) for pace in (SLOW, FAST)]
        usual = self.totals * (fade[SLOW] * DEPTH / self.counts.shape[1])
        fade.append(1.0 - self.reached(passed_us))
        read_partners(stream, key, self.counts, np.array(fade), usual, slow, best)
        return slow, best

    def reached(self, passed_us: int) -> float:
        """Part of its steady count that a key has so long after counting began."""
        return float(1.0 - 0.5 ** max(passed_us / self.half_life_us, SHORTEST))

    @property
    def per_count(self) -> float:
        """Arrivals per second of a key, by its steady count."""
        return float(np.log(2.0) / (self.half_life_us * 1e-6))

    def faded(self, passed_us: int) -> float:
        """What a count has faded to so long after it was one, at the slow pace."""
        return float(0.5 ** (max(0, passed_us) / self.half_life_us))

    def _halvings(self, pace: int, clock_us: int) -> float:
        return float(clock_us - self.origin_us[pace]) / self.half_lives[pace]

    def _fade(self, pace: int, clock_us: int) -> float:
        if not self.totals.any():
            return 1.0  # nothing has begun
        return float(0.5 ** self._halvings(pace, clock_us))
