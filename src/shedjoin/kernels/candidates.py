"""Who leaves next: the lowest score, at a constant cost per shed.

Scores stand still between two *fills*. A fill sorts the few lowest residents of a pool
into a *queue* and remembers the highest of them as the *bar*. A newcomer below the bar
goes into a small *heap*; one above it cannot be the next to leave before the queue has
run dry, and then there is another fill. Newcomers that are not yet mature are
*deferred*. Residents that expire before the next fill stand in a list of their own, by
the time at which they do; from then on they leave before all others.

Entries carry the arrival number of their resident: where it differs from the slot's,
the resident has left by another way and the entry is passed over.
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
        ("all_deferred", "i8"),  # nobody else is in the pool
        ("overfull", "i8"),  # somebody is missing: there was no room
    ]
)


class Candidates(NamedTuple):
    """Candidates by pool, and the facts of each pool.

    ``deferred`` is a ring: entry n lies at n modulo its room.
    """

    pools: Records
    queue: Records
    heap: Records
    deferred: Records
    expiring: Records


@inline_kernel
def leaves_before(
    score: float, number: int, other_score: float, other_number: int, tie: int
) -> bool:
    """Whether the first leaves before the second; ``tie`` is 1 for oldest first."""
    if score != other_score:
        return score < other_score
    return tie * number < tie * other_number


@inline_kernel
def write_ranked(entry: Record, score: float, number: int, slot: int) -> None:
    """Fill an entry of a list that goes by score: a record is copied byte by byte."""
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
    """Write those chosen among residents into a queue, in their order."""
    for place in range(chosen.size):
        at = chosen[place]
        write_ranked(into_queue[place], score[at], number[at], slot[at])


@inline_kernel
def offer(
    slot: int, number: int, score: float, tie: int, pool: int, candidates: Candidates
) -> None:
    """Make a resident a candidate of its pool."""
    facts, heap = candidates.pools[pool], candidates.heap
    if not leaves_before(score, number, facts["bar_score"], facts["bar_number"], tie):
        return
    place = facts["heap_size"]
    if place == heap.shape[1]:
        facts["overfull"] = 1
        return
    facts["heap_size"] += 1
    while place > 0:
        parent = (place - 1) >> 1
        above = heap[pool, parent]
        if not leaves_before(score, number, above["score"], above["number"], tie):
            break
        write_ranked(heap[pool, place], above["score"], above["number"], above["slot"])
        place = parent
    write_ranked(heap[pool, place], score, number, slot)


@inline_kernel
def drop_top(tie: int, pool: int, candidates: Candidates) -> None:
    """Remove the first candidate of the heap."""
    facts, heap = candidates.pools[pool], candidates.heap
    facts["heap_size"] -= 1
    size = facts["heap_size"]
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
def write_dated(entry: Record, time: int, number: int, slot: int) -> None:
    """Fill an entry of a list that goes by time."""
    entry["time"] = time
    entry["number"] = number
    entry["slot"] = slot


@inline_kernel
def defer(slot: int, number: int, time: int, pool: int, candidates: Candidates) -> None:
    """Set a newcomer aside until it is mature."""
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
    """Make those candidates that were set aside and are from ``before`` a time."""
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
    """Take the newest of those set aside: nobody else may leave."""
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
    """List a newcomer that expires before the next fill."""
    facts, expiring = candidates.pools[pool], candidates.expiring
    place = facts["expiring_end"]
    if place == expiring.shape[1]:
        facts["overfull"] = 1
        return
    facts["expiring_end"] += 1
    while place > facts["expiring_next"] and expiring[pool, place - 1]["time"] > expiry:
        later = expiring[pool, place - 1]
        write_dated(
            expiring[pool, place], later["time"], later["number"], later["slot"]
        )
        place -= 1
    write_dated(expiring[pool, place], expiry, number, slot)


@inline_kernel
def has_expired(clock: int, pool: int, candidates: Candidates) -> bool:
    """Whether the first of those that expire soon has done so."""
    facts = candidates.pools[pool]
    first = facts["expiring_next"]
    return bool(
        first < facts["expiring_end"]
        and candidates.expiring[pool, first]["time"] < clock
    )


@inline_kernel
def next_expired(clock: int, pool: int, table: Table, candidates: Candidates) -> int:
    """Take a resident whose time is over, or NOBODY."""
    facts = candidates.pools[pool]
    while has_expired(clock, pool, candidates):
        entry = candidates.expiring[pool, facts["expiring_next"]]
        facts["expiring_next"] += 1
        if is_there(entry["slot"], entry["number"], table):
            return int(entry["slot"])
    return NOBODY


@inline_kernel
def would_be_next(
    score: float, number: int, tie: int, pool: int, candidates: Candidates
) -> bool:
    """Whether a newcomer would leave before all candidates; False if none is known."""
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
    """Take the resident that leaves next; NOBODY if a fill has to find one."""
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
