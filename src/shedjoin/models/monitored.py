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
from shedjoin.types import BoolArray, IntArray

_ALL = 1 << 31
_ROOM = 1 << 12


class Ghosts(NamedTuple):
    """Key and time of monitored rows of one stream, in order of arrival."""

    key: IntArray
    time: IntArray


class Seen(NamedTuple):
    """Matches of ghosts: stream and key of the earlier row, and how long it waited."""

    stream: IntArray
    key: IntArray
    age_us: IntArray


class Slice:
    """Ghosts of all streams.

    Parameters
    ----------
    room : sequence of arrays
        Of the shapes that :meth:`shapes` tells.
    keep_us : tuple of int
        How long a row of each stream can be matched.
    """

    def __init__(self, room: Sequence[IntArray], keep_us: tuple[int, ...]) -> None:
        self._key, self._time, self._ends, self._halvings = room
        self.room = self._key.shape[1]
        self.keep_us = keep_us
        self._streams = range(len(keep_us))
        self._index = [self._linked(stream) for stream in self._streams]

    @staticmethod
    def shapes(streams: int, ghosts: int) -> tuple[Shape, ...]:
        """Room for so many ghosts a stream, a power of two."""
        return (streams, ghosts), (streams, ghosts), (streams,), (1,)

    def ghosts(self, stream: int) -> Ghosts:
        """Ghosts of one stream, for as long as none is added or goes."""
        end = self._ends[stream]
        return Ghosts(self._key[stream, :end], self._time[stream, :end])

    def others(self, stream: int) -> Ghosts:
        """Ghosts of all other streams, one stream after the other."""
        found = [self.ghosts(other) for other in self._streams if other != stream]
        return Ghosts(*map(np.concatenate, zip(*found, strict=True)))

    def monitored(self, key: IntArray) -> BoolArray:
        """Tell which keys are monitored."""
        return np.asarray(_hash(key) < self._threshold, np.bool_)

    @property
    def share(self) -> float:
        """Part of all keys that is monitored."""
        return float(self._threshold / _ALL)

    def meet(self, stream: int, key: IntArray, time: IntArray) -> Seen:
        """Match monitored arrivals with ghosts of the other streams."""
        found = [
            self.meet_one(stream, other, key, time)[1]
            for other in self._streams
            if other != stream
        ]
        return Seen(*map(np.concatenate, zip(*found, strict=True)))

    def meet_one(
        self, stream: int, other: int, key: IntArray, time: IntArray
    ) -> tuple[IntArray, Seen]:
        """Match monitored arrivals with ghosts of one other stream: which, and whom."""
        pairs = Pairs.room(_ROOM)
        low = fixed(time - self.keep_us[other])
        high = fixed(time + self.keep_us[stream])
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
            return nothing, Seen(nothing, nothing, nothing)
        rows = np.concatenate(arrival)
        waited = time[rows] - self.ghosts(other).time[np.concatenate(slot)]
        owner = np.where(waited >= 0, other, stream)
        return rows, Seen(owner, key[rows], np.abs(waited))

    def add(self, stream: int, key: IntArray, time: IntArray) -> None:
        """Keep monitored arrivals as ghosts, as far as there is room."""
        end = self._ends[stream]
        key, time = key[: self.room - end], time[: self.room - end]
        self._key[stream, end : end + key.size] = key
        self._time[stream, end : end + key.size] = time
        link(fixed(key), fixed(time), end, self._index[stream])
        self._ends[stream] += key.size

    def has_room(self, coming: IntArray, clock_us: int) -> bool:
        """Make room for so many ghosts of each stream.

        Expired ghosts go; if that is not enough, half of the keys are not monitored
        any more, and the answer is False: fewer may be coming now.
        """
        if (self._ends + coming <= self.room).all():
            return True
        for stream, keep in enumerate(self.keep_us):
            self._keep(stream, self.ghosts(stream).time + keep >= clock_us)
        there = self._ends
        fits = bool((there + coming <= self.room).all())
        crowded = bool((2 * there > self.room).any())
        if not fits or crowded:
            self._halvings[0] += 1
            for stream in self._streams:
                self._keep(stream, self.monitored(self.ghosts(stream).key))
        self._index = [self._linked(stream) for stream in self._streams]
        return fits and not crowded

    @property
    def _threshold(self) -> int:
        return _ALL >> int(self._halvings[0])

    def _keep(self, stream: int, select: BoolArray) -> None:
        """Let the other ghosts go; room that nobody uses is zero."""
        kept = [column[select] for column in self.ghosts(stream)]
        self._ends[stream] = kept[0].size
        for column, rows in zip((self._key, self._time), kept, strict=True):
            column[stream] = 0
            column[stream, : rows.size] = rows

    def _linked(self, stream: int) -> Index:
        index = Index(
            np.full(self.room, NOWHERE, np.int64),
            np.zeros(STRIDE * self.room, np.int64),
            0,
        )
        ghosts = self.ghosts(stream)
        link(fixed(ghosts.key), fixed(ghosts.time), 0, index)
        return index


def _hash(key: IntArray) -> IntArray:
    """31 bits that are independent of a key's shard and bucket."""
    return chain_words(np.zeros(key.size, np.int64), fixed(key)) & (_ALL - 1)
