"""Look-ahead: first finds possible matches, then drops those with evicted residents.

See ``shedjoin.kernels.lookahead``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.kernels.lookahead import (
    ENCOUNTER,
    SIDE_BY_SIDE,
    Encounters,
    SmallIndex,
    look_up,
    meet_each_other,
    still_there,
)
from shedjoin.kernels.round import MARK, MATCH, Arriving, Found, Rules
from shedjoin.kernels.slots import NOBODY, Table

_FOREVER = np.iinfo(np.int64).max


class LookAhead:
    """Finds the encounters of one run of arrivals, and then their matches.

    Parameters
    ----------
    rules : Rules
        Rules of the join, as kernels need them.
    room : int
        Limit of the number of encounters of a run. A run of one arrival may have more.
    """

    def __init__(self, rules: Rules, room: int) -> None:
        self._rules = rules
        self._evicted = np.zeros(0, np.int64)
        self._by_row = np.zeros((2, 0), np.int64)
        self._heads = np.zeros((0, len(rules.keep)), np.int32)
        self._after = np.zeros(0, np.int32)
        self._encounters = _encounters(room)
        self._count = 0

    def watch(self, out: Found, slots: int, rows: int) -> Found:
        """Add arrays that record which rows are evicted during the run.

        ``slots`` is the number of slots of the table, and ``rows`` the number of
        arrivals of the block.
        """
        if self._evicted.size != slots:
            self._evicted = np.full(slots, NOBODY)
        if self._by_row.shape[1] < rows:
            self._by_row = np.empty((2, rows), np.int64)
        slot, evicted = self._by_row
        slot[:rows], evicted[:rows] = NOBODY, _FOREVER
        out.cursor["settled"] = out.cursor["run_start"]
        return out._replace(
            slot_by_row=slot[:rows],
            evicted_by_slot=self._evicted,
            evicted_by_row=evicted[:rows],
        )

    def look_up(self, start: int, arriving: Arriving, table: Table) -> int:
        """Find encounters of the arrivals from ``start`` on; return the end of the run.

        The run ends where the room for encounters is full.
        """
        while True:
            self._count, end = look_up(
                start, self._rules, arriving, table, self._encounters
            )
            if end > start:
                return end
            self._encounters = _encounters(2 * self._encounters.worth.size)

    def matches(
        self, start: int, arriving: Arriving, table: Table, out: Found
    ) -> Iterator[Found]:
        """Yield the matches of the run, once it is known which rows were evicted.

        ``start`` is the first arrival of the run.
        """
        if self._count > out.matches.size:
            out = _roomier(out, self._count)
        still_there(self._count, self._rules, arriving, self._encounters, out)
        rules, cursor = self._rules, out.cursor[0]
        index = self._small_index(int(cursor["row"]) - start, arriving.key.size)
        while start < cursor["row"]:
            start = meet_each_other(start, rules, arriving, index, table, out)
            if start < cursor["row"] and not cursor["found"]:
                out = _roomier(out, 2 * out.matches.size)
            elif cursor["found"]:
                yield out
                cursor["found"] = 0

    def _small_index(self, run: int, rows: int) -> SmallIndex:
        """Index for a run of arrivals: empty buckets, and a link for every row."""
        buckets = 1 << max(1, run - 1).bit_length()
        if len(self._heads) < buckets:
            streams = len(self._rules.keep)
            self._heads = np.empty((buckets, streams), np.int32)
        if self._after.size < rows:
            self._after = np.empty(rows, np.int32)
        heads = self._heads[:buckets]
        heads[:] = NOBODY
        return SmallIndex(heads, self._after)


def _encounters(room: int) -> Encounters:
    return Encounters(
        entries=np.empty(room, ENCOUNTER),
        worth=np.empty(room),
        marks=np.empty(room, MARK),
        walker=np.empty(SIDE_BY_SIDE, np.int64),
        at=np.empty(SIDE_BY_SIDE, np.int64),
    )


def _roomier(out: Found, room: int) -> Found:
    return out._replace(matches=np.empty(room, MATCH), marks=np.empty(room, MARK))
