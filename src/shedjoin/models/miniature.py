"""The join in miniature: estimates what the join would find with less or more memory.

A few sampled rows represent all arrivals. The arrivals of a block are sorted by score,
and every n-th of them is sampled, from a start that a hash gives. Memories of several
sizes are simulated at once. Each memory holds the sampled rows with the highest scores,
as many as its size allows. For each sampled row, a bit for each memory says whether the
memory still holds the row. A result is found if the earlier of its two rows is held. So
a match of a sampled row with a later arrival counts for all memories that still hold
the row. One pass over the arrivals is enough for all memories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import chain_words
from shedjoin.kernels.index import NOWHERE, STRIDE, Index, Pairs, fixed, link, probe
from shedjoin.kernels.miniature import Sampled, count_held, settle, settle_new
from shedjoin.models.recall_curve import LEVELS, RecallCurve
from shedjoin.models.words import Shape, reals
from shedjoin.types import BoolArray, FloatArray, Grid, IntArray

ROOM = 1 << 11
"""Limit of the number of sampled rows."""
_ALL = 1 << 31
_TICKS = 32
_MATCHES = 1 << 12
_FEWEST = 64
"""Least number of arrivals between two evictions, because an eviction takes a while."""
_STREAM, _KEY, _TIME, _NUMBER, _SIZE, _HELD, _WEIGHT = range(7)
_IMPORTANCE, _SCORE = range(2)
_END, _HALVINGS, _TICK, _SETTLED, _BEGUN, _OF = range(6)
"""Facts: the number of rows, how often the sampled part was halved, the time of the
last eviction, the first row number after it, the time of the last restart, and the
budget since then."""
_OTHER = 0x5851F42D4C957F2D
"""Distinguishes keys of the second stream from those of the first."""
NO_BUDGET = -1
"""Takes the place of a budget if nothing is to be sampled."""
_SPARSE = 4
"""The sampled part is doubled if rows fill less than one fourth of the room."""


class Arrived(NamedTuple):
    """Arrivals in their order. ``kept`` is False for rows that are never stored."""

    stream: IntArray
    key: IntArray
    time: IntArray
    number: IntArray
    size: IntArray
    importance: FloatArray
    score: FloatArray
    kept: BoolArray

    def select(self, rows: IntArray | slice) -> Arrived:
        """Select some of the arrivals."""
        named = {name: column[rows] for name, column in self._asdict().items()}
        return Arrived(**named)


class Now(NamedTuple):
    """The clock, and for each stream the time up to which its rows have expired."""

    clock_us: int
    expired_us: IntArray


class Miniature:
    """A sample of rows, and the results that it would have with other memories.

    Parameters
    ----------
    room : sequence of arrays
        Arrays of the shapes that :meth:`shapes` gives.
    keep_us : tuple of int
        How long a row of each of two streams can be matched.
    """

    @staticmethod
    def shapes() -> tuple[Shape, ...]:
        """Shapes of the arrays: integers, reals, bars, facts, and the curve."""
        return (7, ROOM), (2, ROOM), (2, LEVELS), (6,), *RecallCurve.shapes()

    def __init__(self, room: Sequence[IntArray], keep_us: tuple[int, ...]) -> None:
        self._whole, real, bar, self._facts, *curve = room
        self._real, self._bar = reals(real), reals(bar)
        self.curve = RecallCurve(curve)
        self._keep_us = np.array(keep_us)
        self._tick_us = max(1, max(keep_us) // _TICKS)
        self._link()

    @property
    def rows(self) -> Arrived:
        """The sampled rows."""
        rows = slice(int(self._facts[_END]))
        stream, key, time, number, size, held, _ = self._whole[:, rows].copy()
        importance, score = self._real[:, rows].copy()
        kept = held != 0
        return Arrived(stream, key, time, number, size, importance, score, kept)

    def begin(self, budget: int, clock_us: int) -> None:
        """Restart if the budget has changed, because another budget holds other rows.

        ``budget`` is a number that identifies a budget, or ``NO_BUDGET``.
        """
        if self._facts[_OF] == budget:
            return
        if budget != NO_BUDGET and not self._facts[_OF] and self._facts[_END]:
            # The models began within a micro-batch, at the first row. So some rows were
            # sampled before this call, under the same budget.
            self._facts[_OF] = budget
            return
        for each in (self._whole, self._real, self._bar, self._facts):
            each[:] = 0
        self._facts[_OF] = budget
        self._facts[_BEGUN] = clock_us  # 0 before the first row
        self.curve.begin()
        self._link()

    def has_seen(self, windows: float, first_us: int, clock_us: int) -> bool:
        """Whether ``windows`` windows have passed since both first row and restart."""
        begun = max(first_us, int(self._facts[_BEGUN]))
        return clock_us - begun >= windows * int(self._keep_us.max())

    @property
    def is_known(self) -> bool:
        """Whether the recall is known: results were counted over a full window."""
        return self.curve.is_known and self._is_filled

    @property
    def _is_filled(self) -> bool:
        """Whether all rows of a window were sampled under the present budget."""
        reached = int(self._facts[_TICK])
        return not self._facts[_BEGUN] or self.has_seen(1.0, 0, reached)

    def ends(self, time: IntArray) -> list[int]:
        """Indices that cut arrivals into parts, between which rows are evicted.

        A part spans at least a 32nd of a window, and has at least 64 rows.
        """
        whole = time.size // _FEWEST * _FEWEST
        ends = np.arange(_FEWEST, whole, _FEWEST)
        tick = np.maximum.accumulate(time)[ends] // self._tick_us
        return [*ends[np.flatnonzero(np.diff(tick, prepend=-1))].tolist(), time.size]

    def observe(self, came: Arrived, expired_us: IntArray, *, pooled: bool) -> None:
        """Match arrivals with sampled rows, and sample some of them.

        ``expired_us`` is the time of each stream up to which its rows have expired.
        """
        self._add(came, expired_us, pooled=pooled)
        other = 1 - came.stream
        low = came.time - self._keep_us[other]
        high = came.time + self._keep_us[came.stream]
        pairs, counted = Pairs.room(_MATCHES), np.zeros(LEVELS + 1)
        looked, start = fixed(came.key ^ other * _OTHER), 0
        _, _, _, number, _, held, weight = self._whole
        while start < looked.size:
            found, after, _ = probe(
                looked, fixed(low), fixed(high), start, self._index, 0, pairs
            )
            row, slot = pairs.arrival[:found], pairs.slot[:found]
            slot = slot[number[slot] < came.number[row]]
            count_held(slot, held, weight, counted)
            if not found and after < looked.size:
                pairs = pairs.doubled()
            start = after
        if self._is_filled:
            self.curve.add(counted)

    def is_due(self, clock_us: int) -> bool:
        """Whether it is time to evict rows."""
        return clock_us // self._tick_us > int(self._facts[_TICK]) // self._tick_us

    def is_stale(self, clock_us: int) -> bool:
        """Whether scores are computed again, which is so at every other eviction."""
        return clock_us // self._tick_us % 2 == 0

    def let_go(
        self,
        score: FloatArray,
        room: Grid,
        now: Now,
        tie: int,
        *,
        pooled: bool,
    ) -> None:
        """Evict the rows with the lowest scores from each memory that has no room.

        ``room`` is the room of each pool in each memory. Rows that only late rows can
        match are evicted first. More rows are added until the next call. So room is
        left free for half as many rows as have come since the last call.
        """
        rows = slice(int(self._facts[_END]))
        whole = self._whole[:, rows]
        self._real[_SCORE, rows] = score
        pool = np.zeros(score.size, np.int64) if pooled else whole[_STREAM].copy()
        size, held = whole[_SIZE] * whole[_WEIGHT], whole[_HELD].copy()
        held[whole[_TIME] <= now.expired_us[whole[_STREAM]]] = 0
        outlived = whole[_TIME] + self._keep_us[whole[_STREAM]] < now.clock_us
        score, room = np.where(outlived, -np.inf, score), room.copy()
        order = np.lexsort((-tie * whole[_NUMBER], -score))
        sampled = Sampled(pool, size, score)
        kept = held.copy()
        settle(order, sampled, room, kept, self._bar)
        lately = whole[_NUMBER] >= self._facts[_SETTLED]
        for own in range(room.shape[0]):
            mine = lately & (pool == own)
            came = size[mine] @ (kept[mine, None] >> np.arange(LEVELS) & 1)
            room[own] -= came / 2
        settle(order, sampled, room, held, self._bar)
        whole[_HELD] = held
        self._facts[_TICK] = now.clock_us
        if score.size:
            self._facts[_SETTLED] = int(whole[_NUMBER].max()) + 1
        if _SPARSE * np.count_nonzero(~outlived) < ROOM:
            self._facts[_HALVINGS] = max(0, self._facts[_HALVINGS] - 1)

    def _drawn(self, score: FloatArray, number: int) -> IntArray:
        """Draw rows evenly from the lowest score to the highest.

        If each row were drawn by a lot of its own, the number of drawn rows with high
        scores would be left to chance. These rows take up the room of the memories.
        """
        step = 1 << int(self._facts[_HALVINGS])
        lot = int(chain_words(*np.array([[0], [number]]))[0])
        drawn: IntArray = np.sort(np.argsort(score, kind="stable")[lot % step :: step])
        return drawn

    def _add(self, came: Arrived, expired_us: IntArray, *, pooled: bool) -> None:
        """Sample some arrivals. If there is no room, halve the sampled part."""
        first = int(came.number[0])
        chosen = self._drawn(came.score, first)
        if self._facts[_END] + chosen.size > ROOM:
            stream, time = self._whole[[_STREAM, _TIME], : int(self._facts[_END])]
            self._keep(time > expired_us[stream])
        while self._facts[_END] + chosen.size > ROOM:
            score = self._real[_SCORE, : int(self._facts[_END])]
            kept = np.zeros(score.size, np.bool_)
            kept[np.argsort(score, kind="stable")[::2]] = True
            self._keep(kept)
            self._whole[_WEIGHT] *= 2
            self._facts[_HALVINGS] += 1
            chosen = self._drawn(came.score, first)
        rows = came.select(chosen)
        held = np.empty(chosen.size, np.int64)
        pool = np.zeros(chosen.size, np.int64) if pooled else rows.stream
        bar = self._bar if self._facts[_TICK] else np.full_like(self._bar, -np.inf)
        settle_new(pool, rows.score, bar, held)
        held[~rows.kept] = 0
        first = int(self._facts[_END])
        at = slice(first, first + chosen.size)
        weight = np.full(chosen.size, 1 << int(self._facts[_HALVINGS]))
        self._whole[:, at] = *rows[:5], held, weight
        self._real[:, at] = rows.importance, rows.score
        self._facts[_END] += chosen.size
        key = rows.key ^ rows.stream * _OTHER
        link(fixed(key), fixed(rows.time), first, self._index)

    def _keep(self, select: BoolArray) -> None:
        """Keep only the selected rows; unused room is zero."""
        rows, count = slice(select.size), int(select.sum())
        for columns in (self._whole, self._real):
            kept = columns[:, rows][:, select]
            columns[:, rows] = 0
            columns[:, :count] = kept
        self._facts[_END] = count
        self._link()

    def _link(self) -> None:
        self._index = Index(
            np.full(ROOM, NOWHERE, np.int64), np.zeros(STRIDE * ROOM, np.int64), 0
        )
        stream, key, time = self._whole[:_NUMBER, : int(self._facts[_END])]
        link(fixed(key ^ stream * _OTHER), fixed(time), 0, self._index)
