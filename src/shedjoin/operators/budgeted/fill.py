"""Fills: the residents that leave next, sorted, so that the kernels need not look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.slots import CLOCK, FILL_AT, SHEDS, TIME, survey
from shedjoin.kernels.stages import Rules, Victims
from shedjoin.kernels.victims import (
    BARREN,
    BARS,
    EXPIRING_AT,
    EXPIRING_END,
    EXPIRING_ROOM,
    HEAD,
    HEAP_AT,
    HEAP_ROOM,
    HEAP_WORTH_AT,
    NURSERY_AT,
    NURSERY_END,
    NURSERY_ROOM,
    QUEUE_AT,
    QUEUE_END,
    QUEUE_WORTH_AT,
)
from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.types import FloatArray, IntArray

NEVER_DUE = 1 << 62
_FEWEST = 64
_FITS = 1 << 62
_GREATEST = np.finfo(np.float64).max
_FILLS_PER_WINDOW = 8


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
    worth = score[chosen]
    order = np.argsort(worth)  # much faster than a stable sort
    worth = worth[order]
    rise = worth[1:] != worth[:-1]
    if rise.all():
        return chosen[order]
    rank = np.zeros(chosen.size, np.int64)
    np.cumsum(rise, out=rank[1:])
    ties = tie[chosen[order]]
    ties -= ties.min()
    if int(ties.max()) * int(rank[-1] + 1) >= _FITS:
        return chosen[np.lexsort((tie[chosen], score[chosen]))]
    rank *= ties.max() + 1
    return chosen[order[np.argsort(rank + ties)]]


class Pool(NamedTuple):
    """Candidates of one pool, sorted, and those that are too young."""

    slot: IntArray
    number: IntArray
    score: FloatArray
    young: IntArray  # rows of (slot, number, time), flat
    soon: IntArray  # likewise, with the last instant of their life


class Everyone(NamedTuple):
    """All residents of a pool."""

    slot: IntArray
    number: IntArray
    expiry: IntArray


NOTHING = np.zeros(0, np.int64)
NO_POOL = Pool(NOTHING, NOTHING, np.zeros(0), NOTHING, NOTHING)


def no_victims() -> Victims:
    """Candidates before the first fill: nobody is below the bar."""
    victims = _victims([NO_POOL, NO_POOL], 1)
    victims.cells[[BARREN, HEAD + BARREN]] = 0  # unknown, not none
    return victims


class Filler:
    """Fills of one shard.

    Parameters
    ----------
    table : SlotTable
        The residents.
    rules : Rules
        The join.
    room : int
        Arrivals between two looks of Python, about.
    """

    def __init__(self, table: SlotTable, rules: Rules, room: int) -> None:
        self._table = table
        self._rules = rules
        self._room = room

    def fill(self, pools: int) -> Victims:
        """Find the next victims of each pool.

        A fill goes by the scores as they stand: it changes nothing in the order in
        which residents leave, whenever it happens.
        """
        table, scalars = self._table, self._table.scalars
        clock = int(scalars[CLOCK])
        horizon = clock + max(1, max(self._rules.keep) // _FILLS_PER_WINDOW)
        scalars[FILL_AT] = horizon
        slot, number, expiry = (np.empty(table.size + 1, np.int64) for _ in range(3))
        words, meta = table.table.words, table.table.meta
        rows = survey(self._rules.keep, words, meta, slot, number, expiry)
        everyone = Everyone(slot[:rows], number[:rows], expiry[:rows])
        if pools == 1:
            return _victims([self._pool(everyone, clock, horizon), NO_POOL], self._room)
        side = table.side(everyone.slot)
        parts = [
            Everyone(*(column[side == pool] for column in everyone)) for pool in (0, 1)
        ]
        found = [self._pool(part, clock, horizon) for part in parts]
        return _victims(found, self._room)

    def _pool(self, them: Everyone, clock: int, horizon: int) -> Pool:
        slots, number, expiry = them
        time = self._table.column(TIME)
        score = self._table.table.score[slots]
        young, some, tie = NOTHING, slots.size, self._rules.tie * number
        worth = score
        if self._rules.maturity >= 0:
            age = clock - time[slots]
            spared = (age <= self._rules.maturity) & (age >= -self._rules.window)
            young = np.flatnonzero(spared)
            young = young[np.argsort(number[young])]
            some -= young.size
            worth = np.where(spared, np.inf, np.minimum(score, _GREATEST))
        due = int(self._table.scalars[SHEDS])
        count = min(some, due if due < NEVER_DUE // 2 else slots.size // 2)
        count = min(some, max(count, _FEWEST if due > 1 else 1))
        chosen = lowest(worth, tie, count) if count else NOTHING
        soon = np.flatnonzero(expiry < horizon)
        soon = soon[np.lexsort((number[soon], expiry[soon]))]
        return Pool(
            slots[chosen],
            number[chosen],
            score[chosen],
            _triples(slots[young], number[young], time[slots[young]]),
            _triples(slots[soon], number[soon], expiry[soon]),
        )


def _triples(*columns: IntArray) -> IntArray:
    return np.stack(columns, axis=1).reshape(-1)


def _victims(pools: list[Pool], room: int) -> Victims:
    """Lay the candidates out as the kernels want them."""
    room += _FEWEST
    heads = np.zeros((2, HEAD), np.int64)
    at, worth_at = heads.size, 2 * BARS
    for head, pool in zip(heads, pools, strict=True):
        count, young, soon = (part.size for part in (pool.slot, pool.young, pool.soon))
        heap, nursery = max(room, count), room + young // 3
        head[[QUEUE_END, NURSERY_END, EXPIRING_END]] = count, young // 3, soon // 3
        head[[HEAP_ROOM, NURSERY_ROOM, EXPIRING_ROOM]] = heap, nursery, room + soon // 3
        head[BARREN] = count == 0
        head[[QUEUE_AT, QUEUE_WORTH_AT]] = at, worth_at
        head[[HEAP_AT, HEAP_WORTH_AT]] = at + 2 * count, worth_at + count
        head[NURSERY_AT] = at + 2 * (count + heap)
        head[EXPIRING_AT] = head[NURSERY_AT] + 3 * nursery
        at = head[EXPIRING_AT] + 3 * room + soon
        worth_at += count + heap
    victims = Victims(np.empty(at, np.int64), np.empty(worth_at))
    victims.cells[: heads.size] = heads.reshape(-1)
    victims.worths[: 2 * BARS] = [-np.inf, 0.0] * 2
    for head, pool in zip(heads, pools, strict=True):
        entries = victims.cells[head[QUEUE_AT] : head[HEAP_AT]]
        entries[0::2], entries[1::2] = pool.slot, pool.number
        victims.worths[head[QUEUE_WORTH_AT] : head[HEAP_WORTH_AT]] = pool.score
        for start, part in (
            (head[NURSERY_AT], pool.young),
            (head[EXPIRING_AT], pool.soon),
        ):
            victims.cells[start : start + part.size] = part
    for place, pool in enumerate(pools):
        if pool.slot.size:
            bar = BARS * place
            victims.worths[bar : bar + 2] = pool.score[-1], pool.number[-1]
    return victims
