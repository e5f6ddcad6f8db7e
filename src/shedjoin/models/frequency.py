"""How often each key comes on each stream; older arrivals count less."""

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
"""A key that began more than 64 half-lives ago counts as if it began then."""
FEWEST, MOST = 1 << 10, 1 << 16
"""Number of keys that there is room for, initially and at most."""
_FEW_OF = 16
"""The table is examined again when there are new arrivals for a 16th of its room."""
_FULL, _ALIVE = 0.7, 0.2
"""The table is full if over 70 % of its places have a count of at least 0.2.

The count of a key that came once falls below 0.2 after somewhat more than two
half-lives."""


class Frequency:
    """Decayed counts of keys, at two paces.

    An arrival counts 1 at its own time, and 1/2 one half-life later. Counts at the slow
    pace have little noise. Counts at the fast pace fade ten times as fast, and show
    when a key becomes frequent or rare. The fast count of a key is used only if it
    differs from the slow count by more than chance.

    Counts do not fade as time passes. Instead, later arrivals get greater weights, and
    all counts are scaled down before the weights grow large.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    half_life_us : int
        Event time after which an arrival counts half, at the slow pace.
    """

    def __init__(self, room: Sequence[IntArray], half_life_us: int) -> None:
        self.half_life_us = half_life_us
        self.half_lives = half_life_us, max(1, half_life_us // FASTER)
        totals, self.origin_us, tags, counts = room
        self.totals = reals(totals)
        # The slow and the fast count of a key are the halves of one word.
        halves = counts.view(np.float32).reshape(*counts.shape, PACES)
        self.table = KeyTable(tags.view(np.int32), halves)
        self._unseen = self.keys

    @staticmethod
    def shapes(streams: int, keys: int) -> tuple[Shape, ...]:
        """Shapes of the arrays for a number of keys that is a power of two."""
        return (streams,), (PACES,), (keys // 2,), (keys, streams)

    @property
    def is_empty(self) -> bool:
        """Whether no arrival was counted yet."""
        return not self.totals.any()

    @property
    def keys(self) -> int:
        """Number of keys that there is room for."""
        return int(self.table.tag.size)

    def is_full(self, clock_us: int) -> bool:
        """Whether new keys replace keys that are still in use, or soon will.

        The table is examined only if enough rows have arrived to make a difference.
        """
        if _FEW_OF * self._unseen < self.keys:
            return False
        self._unseen = 0
        count = sum(np.moveaxis(self.table.counts[:, :, SLOW], 1, 0))
        alive = np.count_nonzero(count >= _ALIVE / self._fade(SLOW, clock_us))
        return bool(alive > _FULL * self.keys)

    def begin_count(self) -> None:
        """Begin a micro-batch: the next :meth:`is_full` examines the table."""
        self._unseen = self.keys

    def move_to(self, other: Frequency) -> None:
        """Copy all counts to ``other``, which is empty and has more room."""
        other.totals[:] = self.totals
        other.origin_us[:] = self.origin_us
        move_keys(self.table, other.table)

    def add(self, stream: int, key: IntArray, time: IntArray, clock_us: int) -> None:
        """Count arrivals of one stream, up to ``clock_us``."""
        if self.is_empty:
            self.origin_us[:] = clock_us
        weight = np.empty((key.size, PACES))
        # Both fades are read first: when the totals have faded to zero, is_empty is
        # True, as if nothing was counted.
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
        """Decayed counts of keys on one stream, at the slow pace."""
        return self._read(stream, key, SLOW) * self._fade(SLOW, clock_us)

    def of_streams(self, key: IntArray, clock_us: int) -> FloatArray:
        """Decayed counts of keys at the slow pace, by stream and key."""
        streams = range(self.table.counts.shape[1])
        return np.array([self.of_stream(own, key, clock_us) for own in streams])

    def all_products(self, clock_us: int) -> float:
        """Product of a key's counts on all streams, summed over all keys."""
        each = np.moveaxis(self.table.counts[:, :, SLOW], 1, 0)
        total = reduce(np.multiply, each[1:], each[0].astype(np.float64)).sum()
        return float(total * self._fade(SLOW, clock_us) ** len(each))

    def of_partners(
        self, stream: IntArray, key: IntArray, clock_us: int, passed_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """Counts of each row's key on the other streams: slow and steady counts.

        Slow counts are the counts at the slow pace. A steady count estimates what the
        slow count will become if the key comes as often as it has since counting began,
        ``passed_us`` ago. That time is taken to be at least a 64th of a half-life,
        because one arrival says too little about a shorter time.
        """
        slow, best = np.empty(key.size), np.empty(key.size)
        fade = [self._fade(pace, clock_us) for pace in (SLOW, FAST)]
        fade.append(1.0 - self.reached(passed_us))
        read_partners(stream, key, self.table, np.array(fade), slow, best)
        return slow, best

    def come_since(
        self, stream: int, key: IntArray, clock_us: int, passed_us: int
    ) -> tuple[FloatArray, FloatArray]:
        """Arrivals of each key per half-life, and how many half-lives ago it began.

        Both are computed from the counts at the two paces. For this, the key is assumed
        to have come evenly since it began.
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
        """Part of its steady count that a key reaches in ``passed_us``."""
        return float(1.0 - 0.5 ** max(passed_us / self.half_life_us, SHORTEST))

    @property
    def per_count(self) -> float:
        """Arrivals of a key per second, for each unit of its steady count."""
        return float(np.log(2.0) / (self.half_life_us * 1e-6))

    def faded(self, passed_us: int) -> float:
        """Part of a count that is left after ``passed_us``, at the slow pace."""
        return float(0.5 ** (max(0, passed_us) / self.half_life_us))

    def _read(self, stream: int, key: IntArray, pace: int) -> FloatArray:
        found = np.empty(key.size)
        read_keys(stream, pace, key, self.table, found)
        return found

    def _halvings(self, pace: int, clock_us: int) -> float:
        return float(clock_us - self.origin_us[pace]) / self.half_lives[pace]

    def _fade(self, pace: int, clock_us: int) -> float:
        if self.is_empty:
            return 1.0  # nothing was counted yet
        return float(0.5 ** self._halvings(pace, clock_us))
