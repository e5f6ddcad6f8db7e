"""Basic windows of one stream: each holds the residents of one stretch of event time.

A basic window holds its rows in sorted *tiers*. Arrivals make a new tier. While the
tier before is less than four times as large as the new one, the two are merged. So each
row is merged only a few times, and there are few tiers to search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.ranges import KEY, LEAD, PLACE, TIME, merge
from shedjoin.operators.multiway.layout import Layout
from shedjoin.state.payload import places, segment_of
from shedjoin.state.segments import Segment
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray, IntGrid

PARTS = 10
"""Number of basic windows in the time for which a row is kept."""
FINE_PARTS = 20
"""The number of basic windows in joins with a CPU budget, which may skip some of them.
"""
SHORTEST_US = 100_000
"""Least length of a basic window. Without this limit, each row could have its own."""
MOST = 100
"""If there are more basic windows than this, they are made longer, because each basic
window has one or more files."""
_GROWTH = 4


class Tier(NamedTuple):
    """Sorted rows as columns, kept in the workspace under a number."""

    number: int
    columns: IntGrid

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[1])


class BasicWindows:
    """All basic windows of a stream.

    Parameters
    ----------
    workspace : Workspace
        Holds the tiers.
    name : str
        Name of the stream in the workspace.
    layout : Layout
        Columns of the stream.
    width_us, widest_us : int
        Length of a basic window, and the limit of this length.
    """

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        layout: Layout,
        width_us: int,
        widest_us: int = 0,
    ) -> None:
        self._workspace = workspace
        self._name = name
        self._layout = layout
        self._widest_us = widest_us
        self.width_us = max(SHORTEST_US, width_us)
        self.dropped_us = np.iinfo(np.int64).min
        self.next_tier = 0
        self.tiers: dict[int, list[Tier]] = {}

    def open(self, stored: Iterable[tuple[int, Sequence[Sequence[int]]]]) -> None:
        """Open the tiers of a workspace that holds them."""
        for window, tiers in stored:
            self.tiers[window] = [
                Tier(number, self._shaped(self._workspace.array(self._file(number))))
                for number, _ in tiers
            ]

    def restore(
        self,
        stored: Iterable[tuple[int, Sequence[Sequence[int]]]],
        parts: Sequence[IntGrid],
    ) -> None:
        """Rebuild the tiers from all rows, given in the order of their places."""
        if not parts:
            return
        by_window = dict(self._by_window(np.concatenate(parts, axis=1)))
        for window, tiers in stored:
            cuts = np.cumsum([count for _, count in tiers])[:-1]
            columns = np.split(by_window[window], cuts, axis=1)
            self.tiers[window] = [
                self._kept(number, _sorted(own))
                for (number, _), own in zip(tiers, columns, strict=True)
            ]

    def stored(self) -> list[tuple[int, list[tuple[int, int]]]]:
        """Facts that :meth:`open` and :meth:`restore` need."""
        return [
            (window, [(tier.number, tier.rows) for tier in tiers])
            for window, tiers in sorted(self.tiers.items())
        ]

    def insert(self, rows: IntGrid) -> None:
        """Add rows, given in the order of their places."""
        while self._are_many(rows[TIME]):
            self._widen()
        for window, own in self._by_window(rows):
            tiers = self.tiers.setdefault(window, [])
            added = _sorted(own)
            while tiers and tiers[-1].rows < _GROWTH * added.shape[1]:
                before = tiers.pop()
                merged = np.empty((added.shape[0], before.rows + added.shape[1]), int)
                merge(before.columns, added, merged)
                self._workspace.drop_array(self._file(before.number))
                added = merged
            tiers.append(self._kept(self.next_tier, added))
            self.next_tier += 1

    def _are_many(self, time: IntArray) -> bool:
        """Whether rows with these times would make too many windows."""
        if not time.size or 2 * self.width_us > self._widest_us:
            return False
        spread = (int(time.max()) - int(time.min())) // self.width_us
        if len(self.tiers) + spread < MOST:
            return False
        return len({*self.tiers, *np.unique(time // self.width_us).tolist()}) > MOST

    def _widen(self) -> None:
        """Merge pairs of adjacent windows, so that windows become twice as long."""
        self.width_us *= 2
        both: dict[int, list[Tier]] = {}
        for window, tiers in sorted(self.tiers.items()):
            both.setdefault(window // 2, []).extend(tiers)
        for window, tiers in both.items():
            rows = np.concatenate([tier.columns for tier in tiers], axis=1)
            for tier in tiers:
                self._workspace.drop_array(self._file(tier.number))
            # Rows with equal keys and leads must be in the order of their places.
            rows = np.take(rows, np.argsort(rows[PLACE]), axis=1)
            both[window] = [self._kept(self.next_tier, _sorted(rows))]
            self.next_tier += 1
        self.tiers = both

    def remove(self, segment: int, first_us: int, last_us: int) -> IntArray:
        """Remove the rows of a segment; return their places.

        ``first_us`` and ``last_us`` are the range of their times.
        """
        taken = []
        for window in self.between(first_us, last_us):
            left = []
            for tier in self.tiers[window]:
                mine = segment_of(tier.columns[PLACE]) == segment
                if mine.any():
                    taken.append(tier.columns[PLACE, mine])
                    left += self._without(tier, mine)
                else:
                    left.append(tier)
            self._set(window, left)
        return np.sort(np.concatenate(taken)) if taken else np.zeros(0, np.int64)

    def expire(self, horizon_us: int) -> Iterator[IntArray]:
        """Drop windows that end at or before a time; yield the places of their rows."""
        last_us = (horizon_us + 1) // self.width_us * self.width_us - 1
        self.dropped_us = max(self.dropped_us, last_us)
        for window in [n for n in self.tiers if self.end_us(n) <= horizon_us]:
            for tier in self.tiers.pop(window):
                self._workspace.drop_array(self._file(tier.number))
                yield tier.columns[PLACE]

    def cut(self, horizon_us: int) -> Iterator[IntArray]:
        """Drop all rows up to a time; yield their places."""
        yield from self.expire(horizon_us)
        self.dropped_us = max(self.dropped_us, horizon_us)
        for window in self.between(horizon_us, horizon_us):
            left = []
            for tier in self.tiers[window]:
                gone = tier.columns[TIME] <= horizon_us
                yield tier.columns[PLACE, gone]
                left += self._without(tier, gone) if gone.any() else [tier]
            self._set(window, left)

    def rows(self) -> IntGrid:
        """All rows, window by window and tier by tier."""
        tiers = [tier.columns for tier in self._ordered()]
        nothing = np.zeros((self._layout.width, 0), np.int64)
        return np.concatenate([nothing, *tiers], axis=1)

    def column(self, at: int) -> IntArray:
        """One column of all rows, in the order of :meth:`rows`."""
        tiers = [tier.columns[at] for tier in self._ordered()]
        return np.concatenate([np.zeros(0, np.int64), *tiers])

    def take_out(self, gone: BoolArray) -> None:
        """Drop some rows; ``gone`` is in the order of :meth:`rows`."""
        start = 0
        for window, tiers in sorted(self.tiers.items()):
            left = []
            for tier in tiers:
                mine = gone[start : start + tier.rows]
                start += tier.rows
                left += self._without(tier, mine) if mine.any() else [tier]
            self._set(window, left)

    def move(self, place: IntArray, segment: Segment) -> None:
        """Set the places of rows that have moved to another segment.

        ``place`` are their former places, in ascending order.
        """
        moved = places(segment)
        for tier in self._ordered():
            own = tier.columns[PLACE]
            mine = np.flatnonzero(segment_of(own) == segment_of(place[:1]))
            own[mine] = moved[np.searchsorted(place, own[mine])]

    def _ordered(self) -> Iterator[Tier]:
        return (tier for _, tiers in sorted(self.tiers.items()) for tier in tiers)

    def between(self, first_us: int, last_us: int) -> list[int]:
        """Windows with any time from ``first_us`` to ``last_us``, oldest first."""
        first, last = first_us // self.width_us, last_us // self.width_us
        return sorted(window for window in self.tiers if first <= window <= last)

    def start_us(self, window: int) -> int:
        """The first time of a window."""
        return window * self.width_us

    def end_us(self, window: int) -> int:
        """The last time of a window."""
        return (window + 1) * self.width_us - 1

    def count_after(self, time_us: int, first_segment: int = 0) -> int:
        """Number of rows with later times, in segments from ``first_segment`` on."""
        count = 0
        for window, tiers in self.tiers.items():
            if self.end_us(window) <= time_us:
                continue
            whole = self.start_us(window) > time_us and not first_segment
            for tier in tiers:
                if whole:
                    count += tier.rows
                else:
                    fits = tier.columns[TIME] > time_us
                    fits &= segment_of(tier.columns[PLACE]) >= first_segment
                    count += int(np.count_nonzero(fits))
        return count

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(tier.rows for tiers in self.tiers.values() for tier in tiers)

    @property
    def nbytes(self) -> int:
        """Bytes of all tiers."""
        return sum(
            tier.columns.nbytes for tiers in self.tiers.values() for tier in tiers
        )

    def _by_window(self, rows: IntGrid) -> Iterator[tuple[int, IntGrid]]:
        """Split rows by window; rows of a window keep their order."""
        window = rows[TIME] // self.width_us
        if not window.size:
            return
        if (window == window[0]).all():
            yield int(window[0]), rows
            return
        order = np.argsort(window, kind="stable")
        cuts = np.flatnonzero(np.diff(window[order])) + 1
        for part in np.split(order, cuts):
            yield int(window[part[0]]), np.take(rows, part, axis=1)

    def _without(self, tier: Tier, gone: BoolArray) -> list[Tier]:
        self._workspace.drop_array(self._file(tier.number))
        if gone.all():
            return []
        return [self._kept(tier.number, tier.columns[:, ~gone])]

    def _set(self, window: int, tiers: list[Tier]) -> None:
        if tiers:
            self.tiers[window] = tiers
        else:
            del self.tiers[window]

    def _kept(self, number: int, columns: IntGrid) -> Tier:
        array = self._workspace.new_array(self._file(number), columns.size)
        kept = self._shaped(array)
        kept[:] = columns
        return Tier(number, kept)

    def _shaped(self, array: IntArray) -> IntGrid:
        columns = self._layout.width
        return array.reshape(columns, array.size // columns)

    def _file(self, number: int) -> str:
        return f"{self._name}.{number}"


def _sorted(rows: IntGrid) -> IntGrid:
    """Sort rows by key and lead; ties stay in the order of their places."""
    by = (rows[LEAD],) if (rows[KEY] == rows[KEY, 0]).all() else (rows[LEAD], rows[KEY])
    # np.take returns the memory order that kernels need; indexing may not.
    return np.take(rows, np.lexsort(by), axis=1)
