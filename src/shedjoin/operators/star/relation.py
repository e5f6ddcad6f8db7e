"""The relation of one shard: which keys of two streams it connects, and when.

Every relation row has a *slot*: its position in the order in which the rows came. Three
hash indexes find slots by the left key, by the right key, and by both. Arrays hold the
other facts of each slot. A row is *active* at a time if it is valid at that time. A
deletion is stored as a row that is never active. So a deletion can also end a row that
comes later than the deletion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shedjoin.columns.hot import Hot
from shedjoin.columns.mixing import mixed_bits
from shedjoin.columns.relating import Related
from shedjoin.operators.exact.ring import Ring, probed
from shedjoin.operators.star.pairs import (
    Versions,
    next_deletion,
    number_pairs,
    same_version,
)
from shedjoin.spec.relation import ALWAYS_US
from shedjoin.state.workspace import Workspace
from shedjoin.types import BoolArray, IntArray, IntGrid

ROOM = 1 << 17
"""Number of relation rows that are found at once."""
_FACTS = "relation.facts"
_BEGIN, _END, _REACHED, _DELETION = range(2, 6)
_TOLD = 6
_ROWS = 6
_PAIR = 2
_SMALLEST = 1 << 10
_LOW_BITS = (1 << 16) - 1


class Grown(NamedTuple):
    """Relation rows that were added, or whose end was moved to a later time.

    ``since`` is the latest end that the relation row had before. If the times of two
    stream rows are both earlier than ``since``, the relation row connected them before,
    and their result has already been found.
    """

    slot: IntArray
    since: IntArray


class Applied(NamedTuple):
    """Effects of changes.

    ``new`` are the changes that got slots. ``moved`` are the slots of rows whose end
    has changed. ``shorter`` are the slots of older rows that now end sooner.
    """

    new: IntArray
    grown: Grown
    moved: IntArray
    shorter: IntArray


class Relation:
    """Relation rows of one shard, in the arrays of a workspace.

    Parameters
    ----------
    workspace : Workspace
        Holds indexes and arrays.
    count : int
        Number of rows that the workspace already holds.
    seed : int
        Seed of the buckets of the indexes.
    tells : bool
        Whether results contain columns of the relation. If so, rows that differ in
        these columns are different rows, even if their keys and times are equal.
    """

    def __init__(
        self, workspace: Workspace, count: int, seed: int, *, tells: bool = False
    ) -> None:
        self._workspace = workspace
        self._seed = seed
        self._rows = _ROWS + tells
        self._moved = np.zeros(0, np.int64)
        """Slots whose ends the last call of :meth:`apply` has changed."""
        self._most: int | None = None
        if count:
            self._facts = workspace.array(_FACTS).reshape(self._rows, -1)
            self._rings = self._opened(count)
        else:
            self.clear()

    def clear(self) -> None:
        """Remove all rows."""
        self._most = None
        self._facts = self._array(_SMALLEST)
        self._rings = self._opened(0)

    @property
    def count(self) -> int:
        """Number of rows, including those that have ended."""
        return self._rings[0].end

    @property
    def nbytes(self) -> int:
        """Bytes of arrays and indexes."""
        return int(self._facts.nbytes) + sum(ring.nbytes for ring in self._rings)

    @property
    def begin(self) -> IntArray:
        """Start (inclusive) of the validity of rows, by slot."""
        return self._fact(_BEGIN)

    @property
    def end(self) -> IntArray:
        """End (exclusive) of the validity of rows, by slot."""
        return self._fact(_END)

    @property
    def reached(self) -> IntArray:
        """Latest end that each row has ever had, by slot."""
        return self._fact(_REACHED)

    def keys(self, side: int) -> IntArray:
        """Keys of one side, by slot."""
        return self._fact(side)

    @property
    def most(self) -> int:
        """Upper bound of the number of rows with one key.

        Rows are counted by the low 16 bits of their keys. So different keys may be
        counted together.
        """
        if self._most is None:
            self._most = 1
            for side in range(_PAIR):
                low = self.keys(side)[: self.count] & _LOW_BITS
                self._most = max(self._most, int(np.bincount(low).max(initial=0)))
        return self._most

    def active(
        self, side: int, key: IntArray, time: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows that are active for given keys at given times.

        Each key is searched at the time with the same index in ``time``. For each row,
        the index of its key and the slot of the row are yielded.
        """
        low = np.full(key.size, -ALWAYS_US)
        for at, slot, _ in probed(
            self._rings[side], key, low, time, ROOM, in_order=True
        ):
            active = self.end[slot] > time[at]
            yield at[active], slot[active]

    def of_both(
        self, left: IntArray, right: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield all rows of pairs of keys: the index of the pair, and the slot."""
        always = np.full(left.size, ALWAYS_US)
        none = np.zeros(left.size, np.bool_)
        rows = Related(left, right, -always, always, none)
        yield from self._of_pair(rows, -always, always)

    def last_end(self, side: int, key: IntArray, time: IntArray) -> IntArray:
        """For each key, the latest end of its rows that are active at ``time``."""
        last = np.full(key.size, -ALWAYS_US)
        for at, slot in self.active(side, key, time):
            np.maximum.at(last, at, self.end[slot])
        return last

    def count_after(self, time_us: int) -> int:
        """Number of rows that end after a time."""
        return int(np.count_nonzero(self.end[: self.count] > time_us))

    def steady(self, since_us: int, until_us: int) -> float:
        """Share of the rows active at any time of a span that were active throughout.

        If no row was active, the share is 1.
        """
        begin, end = self.begin[: self.count], self.end[: self.count]
        there = (begin <= until_us) & (end > np.maximum(begin, since_us))
        always = there & (begin <= since_us) & (end > until_us)
        count = int(np.count_nonzero(there))
        return int(np.count_nonzero(always)) / count if count else 1.0

    def lasting(self, time_us: int) -> IntArray:
        """Slots of rows that end after a time, and of deletions at later times."""
        begin, end = self.begin[: self.count], self.end[: self.count]
        deletion = self._fact(_DELETION)[: self.count] > 0
        return np.flatnonzero((end > time_us) | (deletion & (begin > time_us)))

    def deletions(self, slot: IntArray) -> BoolArray:
        """For each slot, whether it holds a deletion."""
        return self._fact(_DELETION)[slot] > 0

    def ended(self, after_us: int, until_us: int) -> IntArray:
        """Slots of rows that end after ``after_us``, and not later than ``until_us``.

        If the last changes have moved the end of a row, the row is also included when
        its end is not after ``after_us``.
        """
        end = self.end[: self.count]
        ended = np.flatnonzero((end > after_us) & (end <= until_us))
        moved, self._moved = self._moved, self._moved[:0]
        return np.union1d(ended, moved[self.end[moved] <= until_us])

    def set_ends(self, slot: IntArray, end: IntArray, reached: IntArray) -> None:
        """Set the ends of rows, and the latest ends that they have had."""
        self.end[slot] = end
        self.reached[slot] = reached

    def apply(self, changes: Related, *, table: bool = False) -> Applied:
        """Apply new rows, new ends and deletions.

        A row is identified by its keys, its begin and the columns that results contain.
        If a row comes again, it gets the new end. If it comes twice in one micro-batch,
        the earlier end is used. A deletion concerns the rows with the same keys and the
        same columns in results. Such a row ends at the time of the deletion if it began
        before this time and has not ended earlier. This also holds for rows that come
        after the deletion. The result does not depend on the order of changes within a
        micro-batch. If ``table`` is true, all rows are added as they are, without these
        rules.
        """
        if table:
            return self._all_of(changes)
        rows = _distinct(changes)
        named = changes.take(rows)
        pair, one_of = number_pairs(named.left, named.right, named.others)
        slots, of_pair = self._slots_of(named.take(one_of))
        known = Versions(of_pair, self.begin[slots], self.deletions(slots))
        begin = np.where(named.deleted, named.end, named.begin)
        asked = Versions(pair, begin, named.deleted)
        place = same_version(asked, known)
        is_fresh = (place < 0) & (named.deleted | (named.begin < named.end))
        fresh = np.flatnonzero(is_fresh)
        fresh = fresh[np.argsort(rows[fresh])]  # in the order of the changes
        first, former = self.count, self.end[slots]
        self.append(named.take(fresh))
        added = np.arange(first, self.count)
        again = np.flatnonzero((place >= 0) & ~named.deleted)
        self.end[slots[place[again]]] = named.end[again]
        given = np.concatenate([former, self.end[added]])
        every = np.concatenate([slots, added])
        ending = next_deletion(known.followed_by(asked.take(fresh)))
        self.end[every] = np.minimum(self.end[every], ending)
        self.reached[added] = self.end[added]
        applied = Applied(rows[fresh], *self._changed(every, given, first))
        self._moved = applied.moved
        return applied

    def _changed(
        self, slots: IntArray, former: IntArray, first: int
    ) -> tuple[Grown, IntArray, IntArray]:
        """Find rows added or prolonged, rows with another end, and rows ending sooner.

        ``former`` are the ends before the changes. Slots from ``first`` on are new.
        """
        end, old = self.end[slots], slots < first
        longer = slots[old & (end > self.reached[slots])]
        since = self.reached[longer]
        self.reached[longer] = self.end[longer]
        added = slots[~old & (self.begin[slots] < end)]
        grown = Grown(
            np.concatenate([added, longer]),
            np.concatenate([np.full(added.size, -ALWAYS_US), since]),
        )
        return grown, slots[end != former], slots[old & (end < former)]

    def _all_of(self, rows: Related) -> Applied:
        """Add all rows of a table, except rows that are never valid."""
        first = self.count
        new = np.flatnonzero(rows.begin < rows.end)
        self.append(rows.take(new))
        slot, none = np.arange(first, self.count), np.zeros(0, np.int64)
        return Applied(new, Grown(slot, np.full(new.size, -ALWAYS_US)), none, none)

    def append(self, rows: Related) -> None:
        """Add new rows. A deletion begins at its time, but is never active."""
        first, count = self.count, rows.begin.size
        if not count:
            return
        self._most = None
        if first + count > self._facts.shape[1]:
            facts = self._array(1 << (first + count - 1).bit_length())
            facts[:, :first] = self._facts[:, :first]
            self._facts = facts
        begin = np.where(rows.deleted, rows.end, rows.begin)
        end = np.where(rows.deleted, -ALWAYS_US, rows.end)
        own = rows.left, rows.right, begin, end, end, rows.deleted, rows.others
        self._facts[:, first : first + count] = own[: self._rows]
        keys = rows.left, rows.right, _pair(rows.left, rows.right)
        for key, ring in zip(keys, self._rings, strict=True):
            ring.insert(Hot(key, begin))

    def _slots_of(self, pairs: Related) -> tuple[IntArray, IntArray]:
        """Slots of the rows of some pairs, ascending, and the pair index of each slot.

        A row must have the keys of the pair, and the same columns in results.
        """
        none = np.zeros(0, np.int64)
        found = [(none, none)]
        for at, slot in self.of_both(pairs.left, pairs.right):
            same = self._others(slot) == pairs.others[at]
            found.append((slot[same], at[same]))
        slots, places = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(slots)
        return slots[order], places[order]

    def _of_pair(
        self, rows: Related, low: IntArray, high: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield rows that begin between two times: index of the pair, and slot."""
        key = _pair(rows.left, rows.right)
        for at, slot, _ in probed(
            self._rings[_PAIR], key, low, high, ROOM, in_order=True
        ):
            hit: BoolArray = self.keys(0)[slot] == rows.left[at]
            hit &= self.keys(1)[slot] == rows.right[at]
            yield at[hit], slot[hit]

    def _others(self, slot: IntArray) -> IntArray:
        """Hash of the columns that results contain, by slot; 0 if there are none."""
        if self._rows == _ROWS:
            return np.zeros(slot.size, np.int64)
        return self._fact(_TOLD)[slot]

    def _fact(self, place: int) -> IntArray:
        found: IntArray = self._facts[place]
        return found

    def _array(self, size: int) -> IntGrid:
        array = self._workspace.new_array(_FACTS, self._rows * size)
        return array.reshape(self._rows, size)

    def _opened(self, count: int) -> list[Ring]:
        return [
            Ring(
                *(self._workspace, f"relation{side}", 0, count, self._seed),
                opened=count > 0,
            )
            for side in range(_PAIR + 1)
        ]


def waited_until(watermark_ms: int, delay_us: int) -> int:
    """Time up to which rows of the streams no longer wait for relation rows."""
    return 1000 * watermark_ms - delay_us if watermark_ms > 0 else -ALWAYS_US - 1


def late_changes(
    rows: Relation,
    applied: Applied,
    waited_us: int,
    passed_us: int,
    latest_us: int,
) -> int:
    """Count changes that came too late for rows of the streams.

    There are two cases. First, results may be missing. Stream rows with times up to
    ``waited_us`` no longer wait for relation rows. Such a stream row was dropped if it
    had no relation row, or if its last one had ended by ``passed_us``. A relation row
    that begins up to ``waited_us`` may come too late for it. Second, results may be
    wrong. ``latest_us`` is the greatest time of a stream row that was joined. If the
    end of a relation row is moved to this time or before, the relation row may have
    been used at times at which it was not valid.
    """
    grown = applied.grown
    missed = (rows.begin[grown.slot] <= waited_us) & (grown.since <= passed_us)
    given = rows.end[applied.shorter] <= latest_us
    return int(np.count_nonzero(missed) + np.count_nonzero(given))


def _distinct(changes: Related) -> IntArray:
    """Indices of changes without repetitions.

    Changes that differ only in their end are repetitions. Only the change with the
    earliest end is used.
    """
    begin = np.where(changes.deleted, changes.end, changes.begin)
    named = changes.deleted, begin, changes.others, changes.right, changes.left
    order = np.lexsort((changes.end, *named))
    first = np.ones(order.size, np.bool_)
    same = np.ones(max(order.size - 1, 0), np.bool_)
    for each in named:
        same &= each[order][1:] == each[order][:-1]
    first[1:] = ~same
    return order[first]


def _pair(left: IntArray, right: IntArray) -> IntArray:
    """Hash of two keys; different pairs may have the same hash."""
    mixed = mixed_bits(left.view(np.uint64)) + right.view(np.uint64)
    return mixed_bits(mixed).view(np.int64)
