"""The relation of one shard: which keys of both streams go together, and when.

Every relation row has a *slot*, its place in the order in which rows came. Two hash
indexes find the slots of a left and of a right key; arrays hold the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shedjoin.columns.hot import Hot
from shedjoin.columns.relating import Related
from shedjoin.operators.exact.ring import Ring, probed
from shedjoin.spec.relation import ALWAYS_US
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray, IntGrid

ROOM = 1 << 17
"""Relation rows that are found at once."""
_FACTS = "relation.facts"
_BEGIN, _END = 2, 3
_ROWS = 4
_SMALLEST = 1 << 10


class Grown(NamedTuple):
    """Relation rows that relate more than before.

    They relate new pairs of rows only if one of these comes at ``since`` or later.
    """

    slot: IntArray
    since: IntArray


class Applied(NamedTuple):
    """What changes did: rows that are new among them, and slots whose end moved."""

    new: IntArray
    grown: Grown
    moved: IntArray


class Relation:
    """Relation rows of one shard, as the workspace holds them.

    Parameters
    ----------
    workspace : Workspace
        Holds indexes and arrays.
    count : int
        How many rows it holds already.
    seed : int
        Of the buckets.
    """

    def __init__(self, workspace: Workspace, count: int, seed: int) -> None:
        self._workspace = workspace
        self._seed = seed
        if count:
            self._facts = workspace.array(_FACTS).reshape(_ROWS, -1)
            self._rings = self._opened(count)
        else:
            self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._facts = self._array(_SMALLEST)
        self._rings = self._opened(0)

    @property
    def count(self) -> int:
        """How many rows there are; those that have ended are among them."""
        return self._rings[0].end

    @property
    def nbytes(self) -> int:
        """Bytes of arrays and indexes."""
        return int(self._facts.nbytes) + sum(ring.nbytes for ring in self._rings)

    @property
    def begin(self) -> IntArray:
        """From when on rows are active, by slot."""
        begin: IntArray = self._facts[_BEGIN]
        return begin

    @property
    def end(self) -> IntArray:
        """Before when rows are active, by slot."""
        end: IntArray = self._facts[_END]
        return end

    def keys(self, side: int) -> IntArray:
        """Keys of a side, by slot."""
        keys: IntArray = self._facts[side]
        return keys

    def active(
        self, side: int, key: IntArray, time: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Which keys have which relation rows that are active at their times."""
        low = np.full(key.size, -ALWAYS_US)
        for at, slot, _ in probed(
            self._rings[side], key, low, time, ROOM, in_order=True
        ):
            active = self.end[slot] > time[at]
            yield at[active], slot[active]

    def last_end(self, side: int, key: IntArray, time: IntArray) -> IntArray:
        """When the last of the rows ends that are active at these times."""
        last = np.full(key.size, -ALWAYS_US)
        for at, slot in self.active(side, key, time):
            np.maximum.at(last, at, self.end[slot])
        return last

    def count_after(self, time_us: int) -> int:
        """Count the rows that end after a time."""
        return int(np.count_nonzero(self.end[: self.count] > time_us))

    def ended(self, after_us: int, until_us: int) -> IntArray:
        """Slots of rows whose end lies between two times, the later one included."""
        end = self.end[: self.count]
        return np.flatnonzero((end > after_us) & (end <= until_us))

    def apply(self, changes: Related) -> Applied:
        """Take in new rows and new ends, then deletions.

        A row is known by its keys and its begin: one that is there gets the end of the
        new one. A deletion ends the rows of its keys that began before it and have not
        ended by then: one that begins at that time takes their place. Nothing depends
        on the order in which the changes of a micro-batch come.
        """
        new, moved = self._inserted(changes)
        first, count = self.count, new.size
        self.append(changes.take(new))
        slot = np.arange(first, first + count)
        since = np.full(count, -ALWAYS_US)
        before, place, end = moved
        self.end[place] = end
        longer = end > before
        grown = Grown(
            np.concatenate([slot, place[longer]]),
            np.concatenate([since, before[longer]]),
        )
        closed = self._closed(changes)
        return Applied(new, grown, np.unique(np.concatenate([place, closed])))

    def set_ends(self, slot: IntArray, end: IntArray) -> None:
        """Give rows other ends."""
        self.end[slot] = end

    def _inserted(
        self, changes: Related
    ) -> tuple[IntArray, tuple[IntArray, IntArray, IntArray]]:
        """Rows that are new; former ends, slots and new ends of those that are not."""
        rows = np.flatnonzero(~changes.deleted & (changes.begin < changes.end))
        left, right, begin, end, _ = changes.take(rows)
        order = np.lexsort((end, begin, right, left))
        rows, left, right, begin, end = (
            each[order] for each in (rows, left, right, begin, end)
        )
        same = np.zeros(rows.size, np.bool_)
        for each in (left, right, begin):
            same[1:] |= each[1:] != each[:-1]
        same[:1] = True
        rows, left, right, begin, end = (
            each[same] for each in (rows, left, right, begin, end)
        )
        slot = np.full(rows.size, -1)
        for at, place, _ in probed(
            self._rings[0], left, begin, begin, ROOM, in_order=True
        ):
            known = self.keys(1)[place] == right[at]
            slot[at[known]] = place[known]
        there = slot >= 0
        place = slot[there]
        before, after = self.end[place], end[there]
        other = before != after
        moved = before[other], place[other], after[other]
        return np.sort(rows[~there]), moved

    def _closed(self, changes: Related) -> IntArray:
        """End what is deleted; tell the slots."""
        gone = changes.take(np.flatnonzero(changes.deleted))
        slots: list[IntArray] = []
        low = np.full(gone.end.size, -ALWAYS_US)
        for at, slot, _ in probed(
            self._rings[0], gone.left, low, gone.end - 1, ROOM, in_order=True
        ):
            hit: BoolArray = self.keys(1)[slot] == gone.right[at]
            hit &= self.end[slot] > gone.end[at]
            np.minimum.at(self.end, slot[hit], gone.end[at[hit]])
            slots.append(slot[hit])
        return np.concatenate([np.zeros(0, np.int64), *slots])

    def append(self, rows: Related) -> None:
        """Take in rows that are new."""
        first, count = self.count, rows.begin.size
        if not count:
            return
        if first + count > self._facts.shape[1]:
            facts = self._array(1 << (first + count - 1).bit_length())
            facts[:, :first] = self._facts[:, :first]
            self._facts = facts
        own = rows.left, rows.right, rows.begin, rows.end
        self._facts[:, first : first + count] = own
        for side, ring in enumerate(self._rings):
            ring.insert(Hot(own[side], rows.begin))

    def _array(self, size: int) -> IntGrid:
        array = self._workspace.new_array(_FACTS, _ROWS * size)
        return array.reshape(_ROWS, size)

    def _opened(self, count: int) -> list[Ring]:
        return [
            Ring(
                *(self._workspace, f"relation{side}", 0, count, self._seed),
                opened=count > 0,
            )
            for side in (0, 1)
        ]
