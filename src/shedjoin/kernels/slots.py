"""The slot table: residents of both sides under a budget, in slots that are reused.

A slot's *record* is eight words, one cache line: key, time, next and previous slot of
its bucket, where its payload lies, matches so far, time of the last match, arrival
number. Chains are doubly linked, so a resident leaves in constant time whatever its
key's popularity. ``heads`` holds the buckets of the left side, then those of the right.
Free slots are linked through the word ``NEXT``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import kernel
from shedjoin.types import FloatArray, IntArray

WORDS = 8
KEY, TIME, NEXT, PREVIOUS, PLACE, MATCHES, LAST, NUMBER = range(WORDS)
NOBODY = -1
SIDE_BIT, ALIVE_BIT, DIRTY_BIT, SIZE_SHIFT = 1, 2, 4, 3
FREE, COUNT, USED, CLOCK, NEXT_NUMBER, SHEDS, FILL_AT, FILL_CLOCK = (
    0,
    1,
    2,  # two words: one per pool
    4,
    5,
    6,
    7,
    8,
)
SCALARS = 16


class Slots(NamedTuple):
    """Arrays of the table; ``reals`` is ``records`` seen as floats."""

    heads: IntArray
    records: IntArray
    reals: FloatArray
    score: FloatArray
    importance: FloatArray
    meta: IntArray
    scalars: IntArray


class Newcomer(NamedTuple):
    """One arrival about to become a resident."""

    key: np.int64
    time: int
    side: int
    place: int
    size: int
    importance: float
    score: float
    matches: float


@kernel
def bucket_of(key: np.int64, side: int, heads: IntArray) -> int:
    """Choose the bucket of a key: any number of buckets, without a division.

    By the low bits: the high ones chose the shard.
    """
    half = heads.size // 2
    low = mixed(key) & 0x7FFFFFFF
    return int(side * half + ((low * half) >> 31))


@kernel
def occupy(newcomer: Newcomer, pool: int, into: Slots) -> int:
    """Take a free slot, fill it and link it; its slot is returned."""
    records, scalars = into.records, into.scalars
    slot = int(scalars[FREE])
    base = WORDS * slot
    scalars[FREE] = records[base + NEXT]
    scalars[COUNT] += 1
    scalars[USED + pool] += newcomer.size
    bucket = bucket_of(newcomer.key, newcomer.side, into.heads)
    head = into.heads[bucket]
    records[base + KEY] = newcomer.key
    records[base + TIME] = newcomer.time
    records[base + NEXT] = head
    records[base + PREVIOUS] = NOBODY
    records[base + PLACE] = newcomer.place
    into.reals[base + MATCHES] = newcomer.matches
    records[base + LAST] = newcomer.time
    records[base + NUMBER] = scalars[NEXT_NUMBER]
    scalars[NEXT_NUMBER] += 1
    if head >= 0:
        records[WORDS * head + PREVIOUS] = slot
    into.heads[bucket] = slot
    into.score[slot] = newcomer.score
    into.importance[slot] = newcomer.importance
    bits = newcomer.side | ALIVE_BIT | DIRTY_BIT
    into.meta[slot] = (newcomer.size << SIZE_SHIFT) | bits
    return slot


@kernel
def vacate(slot: int, pool: int, into: Slots) -> None:
    """Unlink a resident and give its slot back."""
    records, scalars = into.records, into.scalars
    base = WORDS * slot
    side = into.meta[slot] & SIDE_BIT
    after, before = records[base + NEXT], records[base + PREVIOUS]
    if before >= 0:
        records[WORDS * before + NEXT] = after
    else:
        into.heads[bucket_of(records[base + KEY], side, into.heads)] = after
    if after >= 0:
        records[WORDS * after + PREVIOUS] = before
    scalars[USED + pool] -= into.meta[slot] >> SIZE_SHIFT
    scalars[COUNT] -= 1
    records[base + NEXT] = scalars[FREE]
    scalars[FREE] = slot
    into.meta[slot] = DIRTY_BIT


@kernel
def vacate_all(slots: IntArray, pooled: int, into: Slots) -> None:
    """Let a list of residents go."""
    for slot in slots:
        side = into.meta[slot] & SIDE_BIT
        vacate(slot, 0 if pooled else side, into)


@kernel
def relink(slots: IntArray, into: Slots) -> None:
    """Build chains and free list anew: ``slots`` are the residents, oldest first."""
    heads, records = into.heads, into.records
    heads[:] = NOBODY
    for slot in slots:
        base = WORDS * slot
        side = into.meta[slot] & SIDE_BIT
        bucket = bucket_of(records[base + KEY], side, heads)
        head = heads[bucket]
        records[base + NEXT] = head
        records[base + PREVIOUS] = NOBODY
        if head >= 0:
            records[WORDS * head + PREVIOUS] = slot
        heads[bucket] = slot
    free = NOBODY
    for slot in range(into.meta.size - 1, -1, -1):
        if not into.meta[slot] & ALIVE_BIT:
            records[WORDS * slot + NEXT] = free
            free = slot
    into.scalars[FREE] = free
    into.scalars[COUNT] = slots.size


@kernel
def count_hits(key: np.int64, low: int, high: int, side: int, slots: Slots) -> int:
    """Count the residents of ``side`` with this key between two times."""
    records = slots.records
    slot = slots.heads[bucket_of(key, side, slots.heads)]
    hits = 0
    while slot >= 0:
        base = WORDS * slot
        hits += records[base + KEY] == key and low <= records[base + TIME] <= high
        slot = records[base + NEXT]
    return hits


@kernel
def note_match(base: int, time: int, decay: float, into: Slots) -> None:
    """Count a match of a resident at ``time``; earlier ones fade by ``decay``."""
    if decay > 0.0:
        passed = max(0, time - into.records[base + LAST])
        into.reals[base + MATCHES] *= np.exp(-decay * passed)
    into.reals[base + MATCHES] += 1.0
    into.records[base + LAST] = max(time, into.records[base + LAST])
