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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shedjoin.kernels.ghosts import UNVALUED, Sought, count_matches, draw_matches
from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.index import NOWHERE, STRIDE, Index, fixed, link
from shedjoin.models.sizes import Octaves
from shedjoin.models.words import Shape, reals
from shedjoin.types import BoolArray, FloatArray, IntArray

_ALL = 1 << 31
_GROUP_BITS = 40
_DRAWN = 1 << 13
"""Matches of an arrival's key with one stream that are looked at one by one, at most,
for every call; of more, as many are drawn."""
_WORN = 512
"""Expired ghosts that are not worth the work to let them go."""


class Ghosts(NamedTuple):
    """Monitored rows of one stream, in order of arrival."""

    key: IntArray
    time: IntArray
    importance: FloatArray
    octave: Octaves


class Arrived(NamedTuple):
    """Arrivals of all streams, in their order, with the class of their size."""

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    octave: Octaves

    def part(self, at: slice) -> Arrived:
        """Some of them."""
        return Arrived._make(column[at] for column in self)

    def ghosts(self, at: IntArray) -> Ghosts:
        """Some of them, as they are monitored."""
        return Ghosts._make(column[at] for column in self[1:])


class Seen(NamedTuple):
    """Matches of ghosts: stream and key of the earlier row, and how long it waited.

    ``importance`` and ``octave`` are those of the ghost, whichever of the two rows is
    earlier.
    """

    stream: IntArray
    key: IntArray
    age_us: IntArray
    importance: FloatArray
    octave: Octaves


class Met(NamedTuple):
    """What arrivals matched: how many rows each, their importance, and some matches.

    ``rows`` are the arrivals of these, and each stands for ``step`` matches.
    """

    matches: IntArray
    worth: FloatArray
    rows: IntArray
    seen: Seen
    step: int


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
        key, time, importance, octave, self._ends, self._halvings = room
        self.room = key.shape[1]
        octaves = octave.view(np.int8)[:, : self.room]
        self._columns: list[npt.NDArray[Any]] = [key, time, reals(importance), octaves]
        self.keep_us = keep_us
        self._streams = range(len(keep_us))
        self._index = [self._linked(stream) for stream in self._streams]

    @staticmethod
    def shapes(streams: int, ghosts: int) -> tuple[Shape, ...]:
        """Room for so many ghosts a stream, a power of two."""
        whole, eighth = (streams, ghosts), (streams, -(-ghosts // 8))
        return whole, whole, whole, eighth, (streams,), (1,)

    def ghosts(self, stream: int) -> Ghosts:
        """Ghosts of one stream, for as long as none is added or goes."""
        at = stream, slice(self._ends[stream])
        return Ghosts._make(column[at] for column in self._columns)

    def monitored(self, key: IntArray) -> BoolArray:
        """Tell which keys are monitored."""
        return np.asarray(_hash(key) < self._threshold, np.bool_)

    @property
    def share(self) -> float:
        """Part of all keys that is monitored."""
        return float(self._threshold / _ALL)

    def group(self, key: IntArray, groups: int) -> IntArray:
        """Group of each key, by bits that do not say whether it is monitored."""
        return (_words(key) >> _GROUP_BITS) & (groups - 1)

    def meet(self, stream: int, other: int, came: Ghosts, combine: int | None) -> Met:
        """Match monitored arrivals with ghosts of another stream."""
        key, time, importance, _ = came
        low, high = time - self.keep_us[other], time + self.keep_us[stream]
        sought = Sought(fixed(key), fixed(low), fixed(high), importance)
        count, worth = np.empty(key.size, np.int64), np.empty(key.size)
        how, index = UNVALUED if combine is None else combine, self._index[other]
        of_ghost = self._columns[2][other]
        total = count_matches(sought, index, of_ghost, how, count, worth)
        step = max(1, -(-total // _DRAWN))
        rows, slot = np.empty((2, total // step + 1), np.int64)
        drawn = draw_matches(sought, index, step, rows, slot)
        rows, slot = rows[:drawn], slot[:drawn]
        ghosts = self.ghosts(other)
        waited = time[rows] - ghosts.time[slot]
        owner = np.where(waited >= 0, other, stream)
        of_slot = ghosts.importance[slot], ghosts.octave[slot]
        seen = Seen(owner, key[rows], np.abs(waited), *of_slot)
        return Met(count, worth, rows, seen, step)

    def add(self, stream: int, rows: Ghosts) -> None:
        """Keep monitored arrivals as ghosts, as far as there is room."""
        end = self._ends[stream]
        rows = Ghosts._make(column[: self.room - end] for column in rows)
        after = end + rows.key.size
        for into, column in zip(self._columns, rows, strict=True):
            into[stream, end:after] = column
        link(fixed(rows.key), fixed(rows.time), end, self._index[stream])
        self._ends[stream] = after

    def has_room(self, coming: IntArray, clock_us: int) -> bool:
        """Make room for so many ghosts of each stream.

        Expired ghosts go, if they are many or there is no room; if that is not enough,
        half of the keys are not monitored any more, and the answer is False: fewer may
        be coming now.
        """
        if (self._ends + coming <= self.room).all() and not self._is_worn(clock_us):
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

    def _is_worn(self, clock_us: int) -> bool:
        """Whether most ghosts have expired: their room is stored, too."""
        for stream, keep in enumerate(self.keep_us):
            time = self.ghosts(stream).time
            gone = int(np.count_nonzero(time < clock_us - keep))
            if gone > max(_WORN, time.size // 2):
                return True
        return False

    @property
    def _threshold(self) -> int:
        return _ALL >> int(self._halvings[0])

    def _keep(self, stream: int, select: BoolArray) -> None:
        """Let the other ghosts go; room that nobody uses is zero."""
        kept = [column[select] for column in self.ghosts(stream)]
        self._ends[stream] = kept[0].size
        for column, rows in zip(self._columns, kept, strict=True):
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
    return _words(key) & (_ALL - 1)


def _words(key: IntArray) -> IntArray:
    return chain_words(np.zeros(key.size, np.int64), fixed(key))
