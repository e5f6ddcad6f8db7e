"""How often each key comes on each stream, older arrivals counting less."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from shedjoin.kernels.key_table import (
    PACES,
    KeyTable,
    add_keys,
    move_keys,
    read_keys,
)
from shedjoin.kernels.rates import FASTER, SHORTEST, begun_at, read_partners
from shedjoin.models.words import Shape, reals
from shedjoin.types import FloatArray, IntArray

_RESCALE_AT = 64.0
SLOW, FAST = 0, 1
_LONG_AGO = 0.5**64
"""What a count has faded to that was one so long ago that it does not matter."""
FEWEST, MOST = 1 << 10, 1 << 16
"""Keys that are counted, at first and at most."""
_FEW_OF = 16
"""So small a part of the keys that there is room for makes no difference."""
_FULL, _ALIVE = 0.7, 0.2
"""A table is full if this part of its places has counts that are not below the second
number: keys that came once count so little after two half-lives."""


class Frequency:
    """Decayed counts of keys, at two paces.

    An arrival counts one at its own time and half as much a half-life later. The slow
    pace has little noise; the fast one, ten times as fast, notices when a key becomes
    frequent or rare. A key is taken at the fast pace only where that differs from the
    slow one by more than chance allows.

    Instead of fading all counts as time passes, later arrivals are given greater
    weights; the counts are scaled down before the weights grow large.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` gives.
    half_life_us : int
        Event time after which an arrival counts half, at the slow pace.
    """

    def __init__(self, room: Sequence[IntArray], half_life_us: int) -> None:
        self.half_life_us = half_life_us
        self.half_lives = half_life_us, max(1, half_life_us // FASTER)
        totals, self.origin_us, tags, counts = room
        self.totals = reals(totals)
        # Both paces of a count are halves of one word.
        halves = counts.view(np.float32).reshape(*counts.shape, PACES)
        self.table = KeyTable(tags.view(np.int32), halves)
        self._unseen = self.keys

    @staticmethod
    def shapes(streams: int, keys: int) -> tuple[Shape, ...]:
        """Room for so many keys, a power of two."""
        return (streams,), (PACES,), (keys // 2,), (keys, streams)

    @property
    def is_empty(self) -> bool:
        """Whether no arrival was counted yet."""
        return not self.totals.any()

    @property
    def keys(self) -> int:
        """Keys that there is room for."""
        return int(self.table.tag.size)

    def is_full(self, clock_us: int) -> bool:
        """Whether keys have to make room for others that came lately, or will soon.

        It is looked for once as many rows came as might make a difference.
        """
        if _FEW_OF * self._unseen < self.keys:
            return False
        self._unseen = 0
        count = sum(np.moveaxis(self.table.counts[:, :, SLOW], 1, 0))
        alive = np.count_nonzero(count >= _ALIVE / self._fade(SLOW, clock_us))
        return bool(alive > _FULL * self.keys)

    def begin_count(self) -> None:
        """Begin a micro-batch: nobody knows what came since it was last looked for."""
        self._unseen = self.keys

    def move_to(self, other: Frequency) -> None:
        """Put all that was counted into an empty one that has more room."""
        other.totals[:] = self.totals
        other.origin_us[:] = self.origin_us
        move_keys(self.table, other.table)

    def add(self, stream: int, key: IntArray, time: IntArray, clock_us: int) -> None:
        """Count arrivals of one stream, up to ``clock_us``."""
        if self.is_empty:
            self.origin_us[:] = clock_us
        weight = np.empty((key.size, PACES))
        # All before any: totals that fade to nothing look as if nothing had begun.
        fades = [self._fade(pace, clock_us) for pace in (SLOW, FAST)]
        for pace in (SLOW, FAST):
            if self._halvings(pace, clock_us) > _RESCALE_AT:
                self.table.counts[:, :, pace] *= np.float32(fades[pace])
                self.totals *= fades[SLOW] if pace == SLOW else 1.0
                self.origin_us[pace] = clock_us
            halvings = (time - self.origin_us[pace]) / self.half_lives[pace]
            weight[:, pace] = np.exp2(halvings)
        add_keys(stream, key, weight.reshape(-1), self.table)
        self._unseen += key.size
        self.totals[stream] += weight[:, SLOW].sum()

    def total(self, stream: int, clock_us: int) -> float:
        """Decayed count of all arrivals of one stream."""
        return float(self.totals[stream] * self._fade(SLOW, clock_us))

    def of_stream(self, stream: int, key: IntArray, clock_us: int) -> FloatArray:
        """Count keys on one stream, at the slow pace."""
        return self._read(stream, key, SLOW) * self._fade(SLOW, clock_us)

    def of_streams(self, key: IntArray, clock_us: int) -> FloatArray:
        """Count keys on every stream, at the slow pace, by stream and key."""
        streams = range(self.table.counts.shape[1])
        return np.array([self.of_stream(own, key, clock_us) for own in streams])

    def all_products(self, clock_us: int) -> float:
        """Product of the counts of a key on all streams, added up over all keys."""
        each = np.moveaxis(self.table.counts[:, :, SLOW], 1, 0)
        total = reduce(np.multiply, each[1:], each[0].astype(np.float64)).sum()
        return float(total * self._fade(SLOW, clock_us) ** len(each))

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
        fade.append(1.0 - self.reached(passed_us))
        read_partners(stream, key, self.table, np.array(fade), slow, best)
        return slow, best

    def come_since(
        self, stream: int, key: IntArray, clock_us: int, passed_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """How often keys came on a stream if evenly: per half-life, and for how long.

        For how long, in half-lives, follows from the counts at the two paces.
        """
        slow, fast = (
            self._read(stream, key, pace) * self._fade(pace, clock_us)
            for pace in (SLOW, FAST)
        )
        left = np.empty(key.size)
        share = np.divide(fast, slow, out=np.zeros(key.size), where=slow > 0.0)
        begun_at(share, 1.0 - self.reached(passed_us), left)
        left = np.maximum(left, _LONG_AGO)
        return slow * np.log(2.0) / (1.0 - left), -np.log2(left)

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

    def _read(self, stream: int, key: IntArray, pace: int) -> FloatArray:
        found = np.empty(key.size)
        read_keys(stream, pace, key, self.table, found)
        return found

    def _halvings(self, pace: int, clock_us: int) -> float:
        return float(clock_us - self.origin_us[pace]) / self.half_lives[pace]

    def _fade(self, pace: int, clock_us: int) -> float:
        if self.is_empty:
            return 1.0  # nothing has begun
        return float(0.5 ** self._halvings(pace, clock_us))
