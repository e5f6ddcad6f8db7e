"""The slot table: residents of both sides under a budget, in slots that are reused.

One array holds all that a match touches: some scalars, the heads of the buckets (left
side first), and for each slot a *record* of eight words, one cache line: key, time,
next and previous slot of its bucket, where its payload lies, matches so far, time of
the last match, arrival number. Chains are doubly linked, so a resident leaves in
constant time however popular its key. Free slots are linked through ``NEXT`` and have
no number.

``words`` and ``reals`` are the same memory, as integers and as floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import lean, step
from shedjoin.types import FloatArray, IntArray

WORDS = 8
KEY, TIME, NEXT, PREVIOUS, PLACE, MATCHES, LAST, NUMBER = range(WORDS)
NOBODY = -1
SIDE_BIT, ALIVE_BIT, DIRTY_BIT, SIZE_SHIFT = 1, 2, 4, 3
(
    FREE,
    COUNT,
    USED,  # two words, one per pool
    _USED_RIGHT,
    CLOCK,
    NEXT_NUMBER,
    SHEDS,
    FILL_AT,
    LONGEST,  # chain that was walked
    SLOTS,
    VALUED,
    RIGHTS,
    SEED,  # of the buckets, a secret of the state
    LATEST,  # two words: greatest time of each side
    _LATEST_RIGHT,
    LEAD,  # how far the clock may be ahead of what both sides have reached
    MEASURED,  # the clock when the lead was measured
    ARRIVED,  # two words: arrivals of each side since then
    _ARRIVED_RIGHT,
    SIDES_SEEN,  # of which something has come: 1 is left, 2 is right
) = range(20)
SCALARS = 24  # whole cache lines
ENOUGH = 32
"""Arrivals of the sparser side from which its mean gap is measured."""
UNSEEN = np.int64(np.iinfo(np.int64).min)
"""The greatest time of a side of which nothing has come."""


class Newcomer(NamedTuple):
    """One arrival about to become a resident."""

    key: np.int64
    time: int
    side: int
    place: int
    size: int
    matches: float


@step
def head_of(key: np.int64, side: int, words: IntArray) -> int:
    """Choose the bucket of a key: where in ``words`` its head lies.

    Any number of buckets will do, without a division.
    """
    half = words[SLOTS]
    low = mixed(key ^ words[SEED]) & 0x7FFFFFFF
    return int(SCALARS + side * half + ((low * half) >> 31))


@step
def record_of(slot: int, words: IntArray) -> int:
    """Where in ``words`` the record of a slot lies."""
    return int(SCALARS + 2 * words[SLOTS] + WORDS * slot)


@step
def clock_after(time: int, side: int, words: IntArray) -> int:
    """Tell the clock once an arrival has been seen, and remember the arrival's time.

    The clock is the greatest time seen, but at most the lead after the time that both
    streams have reached: a row from the far future on one of them hardly moves it.
    """
    words[LATEST + side] = max(words[LATEST + side], time)
    reached = min(words[LATEST], words[LATEST + 1])
    latest = max(words[LATEST], words[LATEST + 1])
    return int(max(words[CLOCK], min(latest, reached + words[LEAD])))


@step
def set_clock(clock: int, side: int, window: int, words: IntArray) -> None:
    """Set the clock after an arrival, and measure the lead now and then.

    Between two rows of a stream the other one is ahead of it for good reason: the lead
    is eight mean gaps of the sparser stream, a 256th to a quarter of the window.
    """
    words[CLOCK] = clock
    words[SIDES_SEEN] |= 1 << side
    words[ARRIVED + side] += 1
    fewer = min(words[ARRIVED], words[ARRIVED + 1])
    passed = clock - words[MEASURED]
    if fewer >= ENOUGH or passed >= window:
        gap = passed // max(1, fewer)
        words[LEAD] = max(window // 256, 8 * min(gap, window // 32))
        words[MEASURED] = clock
        words[ARRIVED] = 0
        words[ARRIVED + 1] = 0


@step
def occupy(
    newcomer: Newcomer, pool: int, words: IntArray, reals: FloatArray, meta: IntArray
) -> int:
    """Take a free slot, fill it and link it; its slot is returned."""
    slot = int(words[FREE])
    base = record_of(slot, words)
    words[FREE] = words[base + NEXT]
    words[COUNT] += 1
    words[RIGHTS] += newcomer.side
    words[USED + pool] += newcomer.size
    bucket = head_of(newcomer.key, newcomer.side, words)
    head = words[bucket]
    words[base + KEY] = newcomer.key
    words[base + TIME] = newcomer.time
    words[base + NEXT] = head
    words[base + PREVIOUS] = NOBODY
    words[base + PLACE] = newcomer.place
    reals[base + MATCHES] = newcomer.matches
    words[base + LAST] = newcomer.time
    words[base + NUMBER] = words[NEXT_NUMBER]
    words[NEXT_NUMBER] += 1
    if head >= 0:
        words[record_of(head, words) + PREVIOUS] = slot
    words[bucket] = slot
    bits = newcomer.side | ALIVE_BIT | DIRTY_BIT
    meta[slot] = (newcomer.size << SIZE_SHIFT) | bits
    return slot


@step
def vacate(slot: int, pool: int, words: IntArray, meta: IntArray) -> None:
    """Unlink a resident and give its slot back."""
    base = record_of(slot, words)
    after, before = words[base + NEXT], words[base + PREVIOUS]
    if before >= 0:
        words[record_of(before, words) + NEXT] = after
    else:
        words[head_of(words[base + KEY], meta[slot] & SIDE_BIT, words)] = after
    if after >= 0:
        words[record_of(after, words) + PREVIOUS] = before
    words[USED + pool] -= meta[slot] >> SIZE_SHIFT
    words[COUNT] -= 1
    words[RIGHTS] -= meta[slot] & SIDE_BIT
    words[base + NEXT] = words[FREE]
    words[base + NUMBER] = NOBODY
    words[FREE] = slot
    meta[slot] = DIRTY_BIT


@lean
def vacate_all(slots: IntArray, pooled: int, words: IntArray, meta: IntArray) -> None:
    """Let a list of residents go."""
    for slot in slots:
        vacate(slot, 0 if pooled else meta[slot] & SIDE_BIT, words, meta)


@lean
def expire_until(
    horizon: tuple[int, int],
    pooled: int,
    words: IntArray,
    meta: IntArray,
    into_count: IntArray,
) -> None:
    """Let all residents up to a time go, by side; count them."""
    for slot in range(meta.size):
        side = meta[slot] & SIDE_BIT
        due = words[record_of(slot, words) + TIME] <= horizon[side]
        if due and meta[slot] & ALIVE_BIT:
            vacate(slot, 0 if pooled else side, words, meta)
            into_count[side] += 1


@lean
def pending(words: IntArray, meta: IntArray, into_slot: IntArray) -> None:
    """Find the slots of arrivals whose payload is not stored yet, by arrival."""
    for slot in range(meta.size):
        place = words[record_of(slot, words) + PLACE]
        if place < 0 and meta[slot] & ALIVE_BIT:
            into_slot[-1 - place] = slot


@lean
def link_free(words: IntArray, meta: IntArray) -> None:
    """Build the list of free slots anew, in ascending order."""
    free = NOBODY
    for slot in range(meta.size - 1, -1, -1):
        if not meta[slot] & ALIVE_BIT:
            base = record_of(slot, words)
            words[base + NEXT] = free
            words[base + NUMBER] = NOBODY
            free = slot
    words[FREE] = free


@lean
def relink(slots: IntArray, words: IntArray, meta: IntArray) -> None:
    """Build chains and free list anew: ``slots`` are the residents, oldest first."""
    words[SCALARS : SCALARS + 2 * words[SLOTS]] = NOBODY
    words[RIGHTS] = 0
    for slot in slots:
        words[RIGHTS] += meta[slot] & SIDE_BIT
        base = record_of(slot, words)
        bucket = head_of(words[base + KEY], meta[slot] & SIDE_BIT, words)
        head = words[bucket]
        words[base + NEXT] = head
        words[base + PREVIOUS] = NOBODY
        if head >= 0:
            words[record_of(head, words) + PREVIOUS] = slot
        words[bucket] = slot
    words[COUNT] = slots.size
    link_free(words, meta)


@lean
def survey(
    keep: tuple[int, ...],
    words: IntArray,
    meta: IntArray,
    into_slot: IntArray,
    into_number: IntArray,
    into_expiry: IntArray,
) -> int:
    """List all residents: slot, arrival number, last instant of their life."""
    rows = 0
    for slot in range(meta.size):
        base = record_of(slot, words)
        into_slot[rows] = slot
        into_number[rows] = words[base + NUMBER]
        into_expiry[rows] = words[base + TIME] + keep[meta[slot] & SIDE_BIT]
        rows += (meta[slot] & ALIVE_BIT) != 0
    return rows


@step
def count_hits(key: np.int64, low: int, high: int, side: int, words: IntArray) -> int:
    """Count the residents of ``side`` with this key between two times."""
    slot = words[head_of(key, side, words)]
    hits = 0
    while slot >= 0:
        base = record_of(slot, words)
        hits += words[base + KEY] == key and low <= words[base + TIME] <= high
        slot = words[base + NEXT]
    return hits


@step
def note_match(
    base: int, time: int, decay: float, words: IntArray, reals: FloatArray
) -> None:
    """Count a match of a resident at ``time``; earlier ones fade by ``decay``."""
    if decay > 0.0:
        passed = max(0, time - words[base + LAST])
        reals[base + MATCHES] *= np.exp(-decay * passed)
    reals[base + MATCHES] += 1.0
    words[base + LAST] = max(time, words[base + LAST])
