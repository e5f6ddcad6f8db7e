"""Looking matches up before it is decided who is shed, and what is left of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shedjoin.kernels.lookahead import (
    PAIR,
    SIDE_BY_SIDE,
    Candidates,
    look_up,
    meet_each_other,
    still_there,
)
from shedjoin.kernels.slots import NOBODY
from shedjoin.kernels.stages import CURSOR, FOUND, Arriving, Found, Rules, Table
from shedjoin.types import IntArray

_FOREVER = np.iinfo(np.int64).max


class LookAhead:
    """Candidates of one micro-batch, a run of arrivals at a time.

    Parameters
    ----------
    rules : Rules
        The join.
    room : int
        Candidates of a run, at most; an arrival alone may have more.
    """

    def __init__(self, rules: Rules, room: int) -> None:
        self._rules = rules
        self._left = np.zeros(0, np.int64)
        self._candidates = _candidates(room)
        self._count = 0

    def watch(self, out: Found, slots: int, rows: int) -> Found:
        """Have it noted who leaves, of so many slots and arrivals."""
        if self._left.size != slots:
            self._left = np.full(slots, NOBODY)
        return out._replace(left=self._left, gone=np.full(rows, _FOREVER))

    def look_up(self, start: int, arriving: Arriving, table: Table) -> int:
        """Look up arrivals from ``start`` on; return where the run has to end."""
        while True:
            self._count, end = look_up(
                start, self._rules, arriving, table, self._candidates
            )
            if end > start:
                return end
            self._candidates = _candidates(2 * self._candidates.worth.size)

    def matches(
        self, start: int, arriving: Arriving, words: IntArray, out: Found
    ) -> Iterator[Found]:
        """Matches of the run from ``start`` on, now that it is known who left when."""
        if 3 * self._count > out.pairs.size:
            out = _roomier(out, self._count)
        still_there(self._count, self._rules, self._candidates, out)
        run = int(out.state[CURSOR]) - start
        heads, after = _small_index(run, arriving.key.size)
        rules = self._rules
        while start < out.state[CURSOR]:
            start = meet_each_other(start, rules, arriving, heads, after, words, out)
            if start < out.state[CURSOR] and not out.state[FOUND]:
                out = _roomier(out, out.pairs.size)
            elif out.state[FOUND]:
                yield out
                out.state[FOUND] = 0


def _candidates(room: int) -> Candidates:
    return Candidates(
        pairs=np.empty(PAIR * room, np.int64),
        worth=np.empty(room),
        marks=np.empty(2 * room),
        walker=np.empty(SIDE_BY_SIDE, np.int64),
        at=np.empty(SIDE_BY_SIDE, np.int64),
    )


def _roomier(out: Found, room: int) -> Found:
    return out._replace(pairs=np.empty(3 * room, np.int64), marks=np.empty(2 * room))


def _small_index(run: int, rows: int) -> tuple[IntArray, IntArray]:
    """Empty heads for a run, two per bucket, and links for all rows."""
    buckets = 1 << max(1, run - 1).bit_length()
    return np.full(2 * buckets, NOBODY), np.empty(rows, np.int64)
