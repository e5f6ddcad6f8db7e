"""The hash index over the residents of one stream.

Every resident has a *slot*, a number that only grows. The entry of slot ``s`` is in the
ring ``entries`` at ``3 * (s % capacity)``: key, time, and the next slot of its bucket.
These three words are side by side, so that reading them costs one cache line. ``heads``
holds the newest slot of each bucket. Chains run from new slots to old slots, so a walk
stops at the first slot below ``base``. When ``base`` moves, all residents below it are
removed at once, and nothing is unlinked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import kernel
from shedjoin.types import IntArray

STRIDE = 3
BLOCK = 64
NOWHERE = -1
NEVER = np.int64(np.iinfo(np.int64).min)
"""Time of a resident that was removed: no window contains it."""


class Index(NamedTuple):
    """Index of one stream.

    The number of ``heads`` is a power of two, and so is the number of triples in
    ``entries``. The ``seed`` of the buckets is a secret of the state: clients that
    choose their keys cannot choose them all for one bucket.
    """

    heads: IntArray
    entries: IntArray
    seed: int


class Pairs(NamedTuple):
    """Room for matches: position of the arrival, and slot of the resident."""

    arrival: IntArray
    slot: IntArray

    @staticmethod
    def room(matches: int) -> Pairs:
        """Room for this many matches, and for those that one step of a block adds."""
        size = matches + BLOCK
        return Pairs(np.empty(size, np.int64), np.empty(size, np.int64))

    def doubled(self) -> Pairs:
        """Room for twice as many matches."""
        return Pairs.room(2 * (self.slot.size - BLOCK))


def fixed(array: IntArray) -> IntArray:
    """The same array, read-only, because kernels are compiled for read-only arrays."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


@kernel
def link(key: IntArray, time: IntArray, first_slot: int, into_index: Index) -> None:
    """Insert rows into the index, with the slots from ``first_slot`` on."""
    heads, entries, seed = into_index
    bucket_mask = heads.size - 1
    slot_mask = entries.size // STRIDE - 1
    for row in range(key.size):
        slot = first_slot + row
        place = STRIDE * (slot & slot_mask)
        bucket = mixed(key[row] ^ seed) & bucket_mask
        entries[place] = key[row]
        entries[place + 1] = time[row]
        entries[place + 2] = heads[bucket]
        heads[bucket] = slot


@kernel
def probe(
    key: IntArray,
    low: IntArray,
    high: IntArray,
    start: int,
    index: Index,
    base: int,
    into_pairs: Pairs,
) -> tuple[int, int, int]:
    """Match arrivals from ``start`` on until the room for matches is full.

    An arrival matches residents of its key from time ``low`` to time ``high``.

    Returns the number of matches, the arrival from which to continue, and the length of
    the longest chain that was walked. If the matches of an arrival do not all fit, the
    whole arrival is left for the next call.

    Arrivals are processed in blocks. The chains of a block are walked side by side, one
    step of each at a time, so that memory accesses overlap instead of waiting for each
    other. If the matches of a block do not fit, its arrivals are processed one by one.
    Where a call ends depends on the matches alone, not on removed residents that are
    still linked.
    """
    heads, entries, seed = index
    bucket_mask = heads.size - 1
    slot_mask = entries.size // STRIDE - 1
    room = into_pairs.slot.size - BLOCK
    walker = np.empty(BLOCK, np.int64)
    at = np.empty(BLOCK, np.int64)
    found, first, block, longest = 0, start, BLOCK, 0
    while first < key.size:
        end = min(first + block, key.size)
        before = found
        walking, steps = 0, 0
        for row in range(first, end):
            slot = heads[mixed(key[row] ^ seed) & bucket_mask]
            walker[walking] = row
            at[walking] = slot
            walking += slot >= base
        while walking > 0 and found <= room:
            left = 0
            for place in range(walking):
                row, slot = walker[place], at[place]
                entry = STRIDE * (slot & slot_mask)
                when = entries[entry + 1]
                into_pairs.arrival[found] = row
                into_pairs.slot[found] = slot
                found += entries[entry] == key[row] and low[row] <= when <= high[row]
                walker[left] = row
                at[left] = entries[entry + 2]
                left += at[left] >= base
            walking = left
            steps += 1
        longest = max(longest, steps)
        if found <= room:
            first = end
        elif block > 1:
            found, block = before, 1
        else:
            return before, first, longest
    return found, key.size, longest


@kernel
def count_after(entries: IntArray, first_slot: int, rows: int, horizon: int) -> int:
    """Count the residents in a run of slots whose time is after ``horizon``."""
    slot_mask = entries.size // STRIDE - 1
    count = 0
    for slot in range(first_slot, first_slot + rows):
        count += entries[STRIDE * (slot & slot_mask) + 1] > horizon
    return count


@kernel
def times_of(entries: IntArray, slot: IntArray) -> IntArray:
    """Times of some slots."""
    slot_mask = entries.size // STRIDE - 1
    time = np.empty(slot.size, np.int64)
    for row in range(slot.size):
        time[row] = entries[STRIDE * (slot[row] & slot_mask) + 1]
    return time


@kernel
def read_run(
    entries: IntArray, first_slot: int, rows: int
) -> tuple[IntArray, IntArray]:
    """Keys and times of a run of slots."""
    slot_mask = entries.size // STRIDE - 1
    key = np.empty(rows, np.int64)
    time = np.empty(rows, np.int64)
    for row in range(rows):
        place = STRIDE * ((first_slot + row) & slot_mask)
        key[row] = entries[place]
        time[row] = entries[place + 1]
    return key, time


@kernel
def bury(first_slot: int, rows: int, into_entries: IntArray) -> None:
    """Give a run of slots a time that matches nothing; chains still pass through it."""
    slot_mask = into_entries.size // STRIDE - 1
    for slot in range(first_slot, first_slot + rows):
        into_entries[STRIDE * (slot & slot_mask) + 1] = NEVER
