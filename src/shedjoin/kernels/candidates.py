"""Finds the resident that is evicted next, at a constant cost per eviction.

The resident with the lowest score is evicted next. The lists in this module find it
without reading all residents. There is one set of lists for each *pool*. A pool is the
part of the budget that some streams share.

A *fill* rebuilds the lists. Scores do not change between two fills. A fill sorts the
residents with the lowest scores into a *queue*. The highest of these scores is the
*bar*. A resident that is stored after the fill is a *newcomer*. If its score is below
the bar, it goes into a small *heap*. If not, it is in no list: the queue is evicted
first, and when the queue is empty, there is another fill.

Some policies spare newcomers for a time. Such newcomers are *deferred* until this time
has passed: then they are *mature*. The *time of a resident* ends with its window.
Residents whose time ends before the next fill are also in a list that is sorted by the
end of their time. Newcomers whose time ends so soon are in another heap. Once the time
of a resident is over, it is evicted before all others.

An entry of a list holds a slot and an arrival number. If the slot now has another
number, the resident has already left the slot, and the entry is skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.slots import NOBODY, Table, is_there
from shedjoin.types import FloatArray, IntArray, Record, Records

RANKED = np.dtype([("score", "f8"), ("number", "i8"), ("slot", "i8")])
DATED = np.dtype([("time", "i8"), ("number", "i8"), ("slot", "i8")])
POOL = np.dtype(
    [
        ("bar_score", "f8"),
        ("bar_number", "i8"),
        ("queue_next", "i8"),
        ("queue_end", "i8"),
        ("heap_size", "i8"),
        ("deferred_next", "i8"),
        ("deferred_end", "i8"),
        ("expiring_next", "i8"),
        ("expiring_end", "i8"),
        ("expected_size", "i8"),
        ("all_deferred", "i8"),  # whether all residents of the pool are deferred
        ("overfull", "i8"),  # whether a list was full, so that an entry is missing
    ]
)


class Candidates(NamedTuple):
    """Lists of candidates by pool, and the state of these lists.

    ``pools`` has the state of the lists of each pool. ``deferred`` is a ring: entry n
    is stored at n modulo the size of the ring. ``expected`` is a heap of newcomers
    whose time ends soon. Its entries have the end of this time in place of a score.
    """

    pools: Records
    queue: Records
    heap: Records
    deferred: Records
    expiring: Records
    expected: Records


@inline_kernel
def leaves_before(
    score: float, number: int, other_score: float, other_number: int, tie: int
) -> bool:
    """Whether the first row is evicted before the second.

    If both have the same score, ``tie`` decides: 1 for the older row, -1 for the newer.
    """
    if score != other_score:
        return score < other_score
    return tie * number < tie * other_number


@inline_kernel
def write_ranked(entry: Record, score: float, number: int, slot: int) -> None:
    """Fill an entry of a list that is sorted by score.

    Each field is assigned by itself, because a record would be copied byte by byte.
    """
    entry["score"] = score
    entry["number"] = number
    entry["slot"] = slot


@kernel_no_refcount
def put_queue(
    chosen: IntArray,
    score: FloatArray,
    number: IntArray,
    slot: IntArray,
    into_queue: Records,
) -> None:
    """Write the chosen residents into a queue, in the given order."""
    for place in range(chosen.size):
        at = chosen[place]
        write_ranked(into_queue[place], score[at], number[at], slot[at])


@inline_kernel
def push(
    heap: Records,
    pool: int,
    size: int,
    score: float,
    number: int,
    slot: int,
    tie: int,
) -> None:
    """Add an entry to the heap of a pool, which has ``size`` entries so far."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        above = heap[pool, parent]
        if not leaves_before(score, number, above["score"], above["number"], tie):
            break
        write_ranked(heap[pool, place], above["score"], above["number"], above["slot"])
        place = parent
    write_ranked(heap[pool, place], score, number, slot)


@inline_kernel
def drop_first(heap: Records, pool: int, size: int, tie: int) -> None:
    """Remove the first entry from the heap of a pool; ``size`` entries are left."""
    last = heap[pool, size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        below = heap[pool, child]
        if child + 1 < size:
            beside = heap[pool, child + 1]
            if leaves_before(
                beside["score"], beside["number"], below["score"], below["number"], tie
            ):
                child += 1
                below = beside
        if not leaves_before(
            below["score"], below["number"], last["score"], last["number"], tie
        ):
            break
        write_ranked(heap[pool, place], below["score"], below["number"], below["slot"])
        place = child
    write_ranked(heap[pool, place], last["score"], last["number"], last["slot"])


@inline_kernel
def offer(
    slot: int, number: int, score: float, tie: int, pool: int, candidates: Candidates
) -> None:
    """Add a resident to the heap of its pool if its score is below the bar."""
    facts, heap = candidates.pools[pool], candidates.heap
    if not leaves_before(score, number, facts["bar_score"], facts["bar_number"], tie):
        return
    if facts["heap_size"] == heap.shape[1]:
        facts["overfull"] = 1
        return
    push(heap, pool, facts["heap_size"], score, number, slot, tie)
    facts["heap_size"] += 1


@inline_kernel
def drop_top(tie: int, pool: int, candidates: Candidates) -> None:
    """Remove the candidate with the lowest score from the heap of a pool."""
    facts = candidates.pools[pool]
    facts["heap_size"] -= 1
    drop_first(candidates.heap, pool, facts["heap_size"], tie)


@inline_kernel
def write_dated(entry: Record, time: int, number: int, slot: int) -> None:
    """Fill an entry of a list that is sorted by time."""
    entry["time"] = time
    entry["number"] = number
    entry["slot"] = slot


@inline_kernel
def defer(slot: int, number: int, time: int, pool: int, candidates: Candidates) -> None:
    """Add a newcomer to the deferred rows of its pool."""
    facts, deferred = candidates.pools[pool], candidates.deferred
    end, room = facts["deferred_end"], deferred.shape[1]
    if end - facts["deferred_next"] == room:
        facts["overfull"] = 1
        return
    write_dated(deferred[pool, end % room], time, number, slot)
    facts["deferred_end"] = end + 1


@inline_kernel
def mature(
    before: int, tie: int, pool: int, table: Table, candidates: Candidates
) -> None:
    """Make deferred rows candidates if their event time is earlier than ``before``."""
    facts, deferred = candidates.pools[pool], candidates.deferred
    room = deferred.shape[1]
    while facts["deferred_next"] < facts["deferred_end"] and not facts["overfull"]:
        entry = deferred[pool, facts["deferred_next"] % room]
        if entry["time"] >= before:
            break
        slot, number = entry["slot"], entry["number"]
        if is_there(slot, number, table):
            offer(slot, number, table.score[slot], tie, pool, candidates)
        facts["deferred_next"] += 1


@inline_kernel
def newest_deferred(pool: int, table: Table, candidates: Candidates) -> int:
    """Take the newest deferred row; used if all residents of the pool are deferred."""
    facts, deferred = candidates.pools[pool], candidates.deferred
    while facts["deferred_next"] < facts["deferred_end"]:
        facts["deferred_end"] -= 1
        entry = deferred[pool, facts["deferred_end"] % deferred.shape[1]]
        if is_there(entry["slot"], entry["number"], table):
            return int(entry["slot"])
    return NOBODY


@inline_kernel
def expect(
    slot: int, number: int, expiry: int, pool: int, candidates: Candidates
) -> None:
    """Add a newcomer whose time ends before the next fill."""
    facts, expected = candidates.pools[pool], candidates.expected
    if facts["expected_size"] == expected.shape[1]:
        facts["overfull"] = 1
        return
    push(expected, pool, facts["expected_size"], float(expiry), number, slot, 1)
    facts["expected_size"] += 1


@inline_kernel
def is_listed_expired(clock: int, pool: int, candidates: Candidates) -> bool:
    """Whether the time is over for the first resident of the expiring list."""
    facts = candidates.pools[pool]
    first = facts["expiring_next"]
    return bool(
        first < facts["expiring_end"]
        and candidates.expiring[pool, first]["time"] < clock
    )


@inline_kernel
def is_newcomer_expired(clock: int, pool: int, candidates: Candidates) -> bool:
    """Whether the time is over for the first newcomer of the ``expected`` heap."""
    size = candidates.pools[pool]["expected_size"]
    return bool(size > 0 and candidates.expected[pool, 0]["score"] < clock)


@inline_kernel
def has_expired(clock: int, pool: int, candidates: Candidates) -> bool:
    """Whether the time of a resident in the expiring list or ``expected`` is over."""
    return is_listed_expired(clock, pool, candidates) or is_newcomer_expired(
        clock, pool, candidates
    )


@inline_kernel
def next_expired(clock: int, pool: int, table: Table, candidates: Candidates) -> int:
    """Take a resident whose time is over; NOBODY if there is none."""
    facts, expected = candidates.pools[pool], candidates.expected
    while has_expired(clock, pool, candidates):
        first = candidates.expiring[pool, facts["expiring_next"]]
        top = expected[pool, 0]
        is_new = is_newcomer_expired(clock, pool, candidates)
        if is_new and is_listed_expired(clock, pool, candidates):
            is_new = leaves_before(
                top["score"], top["number"], first["time"], first["number"], 1
            )
        slot, number = first["slot"], first["number"]
        if is_new:
            slot, number = top["slot"], top["number"]
            facts["expected_size"] -= 1
            drop_first(expected, pool, facts["expected_size"], 1)
        else:
            facts["expiring_next"] += 1
        if is_there(slot, number, table):
            return int(slot)
    return NOBODY


@inline_kernel
def would_be_next(
    score: float, number: int, tie: int, pool: int, candidates: Candidates
) -> bool:
    """Whether a newcomer would be evicted before all candidates.

    The answer is False if the queue is empty, because candidates are then not known.
    """
    facts = candidates.pools[pool]
    if facts["queue_next"] == facts["queue_end"]:
        return False
    first = candidates.queue[pool, facts["queue_next"]]
    if not leaves_before(score, number, first["score"], first["number"], tie):
        return False
    top = candidates.heap[pool, 0]
    return facts["heap_size"] == 0 or leaves_before(
        score, number, top["score"], top["number"], tie
    )


@inline_kernel
def next_to_leave(tie: int, pool: int, table: Table, candidates: Candidates) -> int:
    """Take the resident that is evicted next; NOBODY if a fill has to find it."""
    facts, queue = candidates.pools[pool], candidates.queue
    top, first = candidates.heap[pool, 0], queue[pool, 0]
    while facts["heap_size"] > 0 and not is_there(top["slot"], top["number"], table):
        drop_top(tie, pool, candidates)
    while facts["queue_next"] < facts["queue_end"]:
        first = queue[pool, facts["queue_next"]]
        if is_there(first["slot"], first["number"], table):
            break
        facts["queue_next"] += 1
    queued = facts["queue_next"] < facts["queue_end"]
    if facts["heap_size"] > 0 and (
        not queued
        or leaves_before(
            top["score"], top["number"], first["score"], first["number"], tie
        )
    ):
        slot = int(top["slot"])
        drop_top(tie, pool, candidates)
        return slot
    if queued:
        facts["queue_next"] += 1
        return int(first["slot"])
    if facts["all_deferred"]:
        return newest_deferred(pool, table, candidates)
    return NOBODY
