"""The monitored slice: some keys of which nothing is forgotten before its time.

Rows of these keys are kept as *ghosts*, key and time alone, until they expire, whether
the operator sheds them or not. What ghosts match is what an unlimited join would match,
so curves learned from them know nothing of the shedding, and the share of it that was
really emitted estimates the recall.

A key is monitored if a hash of it lies below the threshold, which is halved whenever
the ghosts outgrow their room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.index import NOWHERE, STRIDE, Index, Pairs, fixed, link, probe
from shedjoin.models.words import Shape
from shedjoin.types import SIDES, BoolArray, IntArray, Side

_ALL = 1 << 31
_ROOM = 1 << 12


class Ghosts(NamedTuple):
    """Key and time of monitored rows of one side, in order of arrival."""

    key: IntArray
    time: IntArray


class Seen(NamedTuple):
    """Matches of ghosts: side and key of the earlier row, and how long it waited."""

    side: IntArray
    key: IntArray
    age_us: IntArray


class Slice:
    """Ghosts of both sides.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` tells.
    keep_us : (int, int)
        How long a row of each side can be matched.
    """

    def __init__(self, room: Sequence[IntArray], keep_us: tuple[int, ...]) -> None:
        self._key, self._time, self._ends, self._halvings = room
        self.room = self._key.shape[1]
        self.keep_us = keep_us
        self._index = [self._linked(side) for side in SIDES]

    @staticmethod
    def shapes(ghosts: int) -> tuple[Shape, ...]:
        """Room for so many ghosts a side, a power of two."""
        return (2, ghosts), (2, ghosts), (2,), (1,)

    def ghosts(self, side: Side) -> Ghosts:
        """Ghosts of one side, for as long as none is added or goes."""
        end = self._ends[side]
        return Ghosts(self._key[side, :end], self._time[side, :end])

    def monitored(self, key: IntArray) -> BoolArray:
        """Tell which keys are monitored."""
        return np.asarray(_hash(key) < self._threshold, np.bool_)

    @property
    def share(self) -> float:
        """Part of all keys that is monitored."""
        return float(self._threshold / _ALL)

    def meet(self, side: Side, key: IntArray, time: IntArray) -> Seen:
        """Match monitored arrivals with ghosts of the other side."""
        other: Side = 1 if side == 0 else 0
        pairs = Pairs.room(_ROOM)
        low = fixed(time - self.keep_us[other])
        high = fixed(time + self.keep_us[side])
        start, arrival, slot = 0, [], []
        while start < key.size:
            index = self._index[other]
            found, after, _ = probe(key, low, high, start, index, 0, pairs)
            arrival.append(pairs.arrival[:found].copy())
            slot.append(pairs.slot[:found].copy())
            if not found and after < key.size:
                pairs = pairs.doubled()
            start = after
        if not arrival:
            nothing = np.zeros(0, np.int64)
            return Seen(nothing, nothing, nothing)
        rows = np.concatenate(arrival)
        waited = time[rows] - self.ghosts(other).time[np.concatenate(slot)]
        owner = np.where(waited >= 0, other, side)
        return Seen(owner, key[rows], np.abs(waited))

    def add(self, side: Side, key: IntArray, time: IntArray) -> None:
        """Keep monitored arrivals as ghosts, as far as there is room."""
        end = self._ends[side]
        key, time = key[: self.room - end], time[: self.room - end]
        self._key[side, end : end + key.size] = key
        self._time[side, end : end + key.size] = time
        link(fixed(key), fixed(time), end, self._index[side])
        self._ends[side] += key.size

    def has_room(self, coming: IntArray, clock_us: int) -> bool:
        """Make room for so many ghosts of each side.

        Expired ghosts go; if that is not enough, half of the keys are not monitored
        any more, and the answer is False: fewer may be coming now.
        """
        if (self._ends + coming <= self.room).all():
            return True
        for side in SIDES:
            self._keep(side, self.ghosts(side).time + self.keep_us[side] >= clock_us)
        there = self._ends
        fits = bool((there + coming <= self.room).all())
        crowded = bool((2 * there > self.room).any())
        if not fits or crowded:
            self._halvings[0] += 1
            for side in SIDES:
                self._keep(side, self.monitored(self.ghosts(side).key))
        self._index = [self._linked(side) for side in SIDES]
        return fits and not crowded

    @property
    def _threshold(self) -> int:
        return _ALL >> int(self._halvings[0])

    def _keep(self, side: Side, those: BoolArray) -> None:
        """Let the other ghosts go; room that nobody uses is zero."""
        kept = [column[those] for column in self.ghosts(side)]
        self._ends[side] = kept[0].size
        for column, rows in zip((self._key, self._time), kept, strict=True):
            column[side] = 0
            column[side, : rows.size] = rows

    def _linked(self, side: Side) -> Index:
        index = Index(
            np.full(self.room, NOWHERE, np.int64),
            np.zeros(STRIDE * self.room, np.int64),
            0,
        )
        ghosts = self.ghosts(side)
        link(fixed(ghosts.key), fixed(ghosts.time), 0, index)
        return index


def _hash(key: IntArray) -> IntArray:
    """31 bits that are independent of a key's shard and bucket."""
    return chain_words(np.zeros(key.size, np.int64), fixed(key)) & (_ALL - 1)
