"""The monitored slice: some keys of which nothing is forgotten before its time.

Rows of these keys are kept as *ghosts*, key and time alone, until they expire, whether
the operator sheds them or not. What ghosts match is what an unlimited join would match,
so curves learned from them know nothing of the shedding, and the share of it that was
really emitted estimates the recall.

A key is monitored if a hash of it lies below the threshold, which is halved whenever
the ghosts outgrow their room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.index import NOWHERE, STRIDE, Index, Pairs, fixed, link, probe
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
    room : int
        Ghosts per side at most, a power of two.
    keep_us : (int, int)
        How long a row of each side can be matched.
    """

    def __init__(self, room: int, keep_us: tuple[int, ...]) -> None:
        self.room = room
        self.keep_us = keep_us
        self.threshold = np.array([_ALL])
        nothing = np.zeros(0, np.int64)
        self.ghosts = [Ghosts(nothing, nothing), Ghosts(nothing, nothing)]
        self._index = [self._empty(), self._empty()]
        self._ends = np.zeros(2, np.int64)

    def monitored(self, key: IntArray) -> BoolArray:
        """Tell which keys are monitored."""
        return np.asarray(_hash(key) < self.threshold[0], np.bool_)

    @property
    def share(self) -> float:
        """Part of all keys that is monitored."""
        return float(self.threshold[0] / _ALL)

    def meet(self, side: Side, key: IntArray, time: IntArray) -> Seen:
        """Match monitored arrivals with ghosts of the other side."""
        other: Side = 1 if side == 0 else 0
        pairs = Pairs(np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int64))
        low = fixed(time - self.keep_us[other])
        high = fixed(time + self.keep_us[side])
        start, arrival, slot = 0, [], []
        while start < key.size:
            index = self._index[other]
            found, after, _ = probe(key, low, high, start, index, 0, pairs)
            arrival.append(pairs.arrival[:found].copy())
            slot.append(pairs.slot[:found].copy())
            if not found and after < key.size:
                size = 2 * pairs.slot.size
                pairs = Pairs(np.empty(size, np.int64), np.empty(size, np.int64))
            start = after
        if not arrival:
            nothing = np.zeros(0, np.int64)
            return Seen(nothing, nothing, nothing)
        rows = np.concatenate(arrival)
        waited = time[rows] - self.ghosts[other].time[np.concatenate(slot)]
        owner = np.where(waited >= 0, other, side)
        return Seen(owner, key[rows], np.abs(waited))

    def add(self, side: Side, key: IntArray, time: IntArray) -> None:
        """Keep monitored arrivals as ghosts, as far as there is room."""
        free = self.room - self._ends[side]
        key, time = key[:free], time[:free]
        old = self.ghosts[side]
        self.ghosts[side] = Ghosts(
            np.concatenate([old.key, key]), np.concatenate([old.time, time])
        )
        link(fixed(key), fixed(time), self._ends[side], self._index[side])
        self._ends[side] += key.size

    def has_room(self, coming: IntArray, clock_us: int) -> bool:
        """Make room for so many ghosts of each side.

        Expired ghosts go; if that is not enough, half of the keys are not monitored
        any more, and the answer is False: fewer may be coming now.
        """
        if (self._ends + coming <= self.room).all():
            return True
        for side in SIDES:
            self._keep(side, self.ghosts[side].time + self.keep_us[side] >= clock_us)
        there = np.array([ghosts.key.size for ghosts in self.ghosts])
        fits = bool((there + coming <= self.room).all())
        crowded = bool((2 * there > self.room).any())
        if not fits or crowded:
            self.threshold[0] //= 2
            for side in SIDES:
                self._keep(side, self.monitored(self.ghosts[side].key))
        for side in SIDES:
            self._relink(side)
        return fits and not crowded

    def restore(self, ghosts: list[Ghosts], threshold: int) -> None:
        """Go on from stored ghosts."""
        self.threshold[0] = threshold
        self.ghosts = ghosts
        for side in SIDES:
            self._relink(side)

    def _keep(self, side: Side, those: BoolArray) -> None:
        self.ghosts[side] = Ghosts(*(column[those] for column in self.ghosts[side]))

    def _relink(self, side: Side) -> None:
        self._index[side] = self._empty()
        ghosts = self.ghosts[side]
        link(fixed(ghosts.key), fixed(ghosts.time), 0, self._index[side])
        self._ends[side] = ghosts.key.size

    def _empty(self) -> Index:
        return Index(
            np.full(self.room, NOWHERE, np.int64),
            np.zeros(STRIDE * self.room, np.int64),
            0,
        )


def _hash(key: IntArray) -> IntArray:
    """31 bits that are independent of a key's shard and bucket."""
    return chain_words(np.zeros(key.size, np.int64), fixed(key)) & (_ALL - 1)
