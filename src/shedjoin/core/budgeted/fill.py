"""Fills: the residents that leave next, sorted, so that the kernels need not look."""

from __future__ import annotations

import numpy as np

from shedjoin.core.budgeted.table import SlotTable
from shedjoin.kernels.slots import CLOCK, FILL_AT, FILL_CLOCK, NUMBER, SHEDS, TIME
from shedjoin.kernels.victims import (
    BAR_SCORE,
    BAR_TIE,
    BARREN,
    MARKS,
    NURSERY_END,
    QUEUE_END,
    Victims,
)
from shedjoin.types import FloatArray, IntArray

NEVER_DUE = 1 << 62
_FEWEST = 64
_FILLS_PER_WINDOW = 32


def lowest(score: FloatArray, tie: IntArray, count: int) -> IntArray:
    """Positions of the ``count`` lowest by (score, tie), in that order.

    >>> import numpy as np
    >>> lowest(np.array([3.0, 1.0, 1.0, 2.0]), np.array([0, 2, 1, 3]), 2).tolist()
    [2, 1]
    """
    if count < score.size:
        bar = np.partition(score, count - 1)[count - 1]
        below, level = np.flatnonzero(score < bar), np.flatnonzero(score == bar)
        need = count - below.size
        if need < level.size:
            level = level[np.argpartition(tie[level], need - 1)[:need]]
        chosen = np.concatenate([below, level])
    else:
        chosen = np.arange(score.size)
    return chosen[np.lexsort((tie[chosen], score[chosen]))]


def no_victims(room: int) -> Victims:
    """Candidates before the first fill: nobody is below the bar."""
    return _victims(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), room)


class Filler:
    """Fills of one shard.

    Parameters
    ----------
    table : SlotTable
        The residents.
    keep_us : (int, int)
        How long a row of each side can be matched.
    tie : int
        1 if the oldest of equals leaves first, -1 if the newest.
    maturity_us : int
        Rows up to this age are spared; -1 spares nobody.
    room : int
        Arrivals between two looks of Python, about.
    """

    def __init__(
        self,
        table: SlotTable,
        keep_us: tuple[int, int],
        tie: int,
        maturity_us: int,
        room: int,
    ) -> None:
        self._table = table
        self._keep_us = keep_us
        self._tie = tie
        self._maturity_us = maturity_us
        self._room = room

    def fill(self, alive: IntArray, pools: int) -> tuple[Victims, Victims]:
        """Find the next victims of each pool; expired rows leave before all others.

        What has expired is looked up some times per window. A fill in between goes by
        the last look: it changes nothing in the order in which residents leave.
        """
        scalars = self._table.slots.scalars
        clock = int(scalars[CLOCK])
        if clock >= scalars[FILL_AT]:
            scalars[FILL_CLOCK] = clock
            scalars[FILL_AT] = clock + max(1, max(self._keep_us) // _FILLS_PER_WINDOW)
        time = self._table.column(TIME)[alive]
        side = self._table.side(alive)
        keep = np.where(side == 0, self._keep_us[0], self._keep_us[1])
        score = self._table.slots.score[alive]
        score = np.where(time + keep < scalars[FILL_CLOCK], -np.inf, score)
        if pools == 1:
            return self._pool(alive, score, clock), no_victims(1)
        parts = [np.flatnonzero(side == pool) for pool in range(2)]
        one, two = (self._pool(alive[rows], score[rows], clock) for rows in parts)
        return one, two

    def _pool(self, slots: IntArray, score: FloatArray, clock: int) -> Victims:
        number = self._table.column(NUMBER)[slots]
        young = np.zeros(0, np.int64)
        if self._maturity_us >= 0:
            age = clock - self._table.column(TIME)[slots]
            young = np.flatnonzero(age <= self._maturity_us)
            young = young[np.argsort(number[young])]
            grown = np.flatnonzero(age > self._maturity_us)
        else:
            grown = np.arange(slots.size)
        due = int(self._table.slots.scalars[SHEDS])
        count = min(grown.size, due if due < NEVER_DUE // 2 else slots.size // 2)
        count = min(grown.size, max(count, _FEWEST if due > 1 else 1))
        chosen = np.zeros(0, np.int64)
        if count:
            chosen = grown[lowest(score[grown], self._tie * number[grown], count)]
        victims = _victims(
            slots[chosen],
            number[chosen],
            score[chosen],
            max(self._room, count, young.size),
        )
        if count:
            victims.bar[BAR_SCORE] = score[chosen[-1]]
            victims.bar[BAR_TIE] = self._tie * number[chosen[-1]]
        victims.marks[BARREN] = count == 0
        victims.marks[NURSERY_END] = young.size
        victims.nursery_slot[: young.size] = slots[young]
        victims.nursery_number[: young.size] = number[young]
        victims.nursery_time[: young.size] = self._table.column(TIME)[slots[young]]
        return victims


def _victims(slot: IntArray, number: IntArray, score: FloatArray, room: int) -> Victims:
    marks = np.zeros(MARKS, np.int64)
    marks[QUEUE_END] = slot.size
    room += _FEWEST

    def empty() -> IntArray:
        return np.empty(room, np.int64)

    return Victims(
        queue_slot=slot,
        queue_number=number,
        queue_score=score,
        heap_slot=empty(),
        heap_number=empty(),
        heap_score=np.empty(room),
        nursery_slot=empty(),
        nursery_number=empty(),
        nursery_time=empty(),
        bar=np.array([-np.inf, 0.0]),
        marks=marks,
    )
