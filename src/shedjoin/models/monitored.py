"""The monitored slice: all rows of some keys, remembered until they expire.

Rows of monitored keys are remembered as *ghosts*, without their payload, even if the
join sheds them. Ghosts have the matches that the rows would have in the exact join. So
shedding does not bias the curves that are learned from ghosts. The share of the ghosts'
matches that was emitted is an estimate of the recall.

A key is monitored if its hash lies below a threshold. The threshold is halved whenever
there is no room for the ghosts.
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
"""Most matches that a call examines one by one. If there are more, one of every n
matches is drawn by a hash."""
_WORN = 512
"""If at most this many ghosts have expired, they are removed only if room is needed."""


class Ghosts(NamedTuple):
    """Monitored rows of one stream, in order of arrival."""

    key: IntArray
    time: IntArray
    importance: FloatArray
    octave: Octaves


class Arrived(NamedTuple):
    """Arrivals of all streams, in their order, with the classes of their sizes."""

    stream: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    octave: Octaves

    def part(self, at: slice) -> Arrived:
        """Select some of the arrivals."""
        return Arrived._make(column[at] for column in self)

    def ghosts(self, at: IntArray) -> Ghosts:
        """Select some of the arrivals, as ghosts."""
        return Ghosts._make(column[at] for column in self[1:])


class Seen(NamedTuple):
    """Matches of ghosts: stream and key of the earlier row, and how long it waited.

    ``importance`` and ``octave`` belong to the ghost, even if it is the later row.
    """

    stream: IntArray
    key: IntArray
    age_us: IntArray
    importance: FloatArray
    octave: Octaves


class Met(NamedTuple):
    """Matches of arrivals: their number, their importance, and a sample of them.

    ``rows`` are the arrivals of the sampled matches. One in ``step`` is sampled.
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
        Arrays of the shapes that :meth:`shapes` gives.
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
        """Shapes of the arrays for a number of ghosts per stream, a power of two."""
        whole, eighth = (streams, ghosts), (streams, -(-ghosts // 8))
        return whole, whole, whole, eighth, (streams,), (1,)

    def ghosts(self, stream: int) -> Ghosts:
        """Ghosts of one stream, valid until ghosts are added or removed."""
        at = stream, slice(self._ends[stream])
        return Ghosts._make(column[at] for column in self._columns)

    def monitored(self, key: IntArray) -> BoolArray:
        """Whether each key is monitored."""
        return np.asarray(_hash(key) < self._threshold, np.bool_)

    @property
    def share(self) -> float:
        """Part of all keys that is monitored."""
        return float(self._threshold / _ALL)

    def group(self, key: IntArray, groups: int) -> IntArray:
        """Group of each key, independent of whether the key is monitored."""
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
        """Make room for ``coming`` new ghosts of each stream; return whether it worked.

        Expired ghosts are removed if there are many, or if there is no room. If that is
        not enough, half of the monitored keys are no longer monitored. The method then
        returns False, because fewer of the arrivals are monitored now.
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
        """Whether most ghosts of a stream have expired but still take room."""
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
        """Keep only the selected ghosts; unused room is zero."""
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
    """31 bits of a key's hash that are independent of its shard and bucket."""
    return _words(key) & (_ALL - 1)


def _words(key: IntArray) -> IntArray:
    return chain_words(np.zeros(key.size, np.int64), fixed(key))
