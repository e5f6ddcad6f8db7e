"""The slot table: residents of all streams under a budget, in slots that are reused.

A record of 32 bytes holds what a probe and a match read of a resident: key, time, place
of the payload, and the neighbours in the chain of its bucket. Number, score and
``meta`` are columns, because they are read for all residents at once. Fields that are
seldom read are in ``details``. Chains are doubly linked, so a resident is removed in
constant time, however many rows have its key. Free slots are linked through ``next``
and have no number.

Number and score say which row holds a slot *now*. The rest may be out of date while
kernels decide which rows are stored and evicted (:mod:`shedjoin.kernels.settling`).

Each stream has buckets of its own. The kernels find pairs of rows only, not results of
three or more rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.types import FloatArray, IntArray, LinkArray, Records

NOBODY = -1
STREAM_BITS, ALIVE_BIT, DIRTY_BIT, SIZE_SHIFT = 0b111, 0b1000, 0b10000, 5
"""``meta`` holds the stream of a slot, two flags, and above these the size."""

RESIDENT = np.dtype(
    [
        ("key", "i8"),
        ("time", "i8"),
        ("place", "i8"),  # of the payload (see kernels/places.py)
        ("next", "i4"),
        ("previous", "i4"),
    ]
)
DETAILS = np.dtype(
    [
        ("matches", "f8"),
        ("last_match", "i8"),
        ("foreseen", "f8"),  # matches in the present instant if no row is evicted
        ("importance", "f8"),
        ("chance", "f8"),
        ("coins", "i8"),
    ]
)
FACTS = np.dtype(
    [
        ("first_free", "i8"),
        ("count", "i8"),
        ("next_number", "i8"),
        ("sheds_left", "i8"),  # rows to shed until scores are computed again
        ("fill_at", "i8"),  # time at which candidates are chosen again
        ("longest_chain", "i8"),  # length of the longest chain that was walked
        ("valued", "i8"),  # whether any row had an importance
        ("bucket_seed", "i8"),  # a secret of the state
        ("clock", "i8"),
        ("instant", "i8"),  # the time of the present instant
        ("lead", "i8"),  # how far the clock may be ahead of all streams
        ("measured_at", "i8"),  # the clock when the lead was measured
        ("seen", "i8"),  # streams that have had an arrival, as bits
    ]
)
STREAM = np.dtype(
    [
        ("residents", "i8"),
        ("latest", "i8"),  # greatest event time
        ("arrived", "i8"),  # arrivals since the lead was measured
        ("used", "i8"),  # what the pool of this number uses of the budget
    ]
)


class Table(NamedTuple):
    """The slot table; ``facts`` is one record, ``streams`` one for each stream."""

    facts: Records
    streams: Records
    heads: LinkArray  # of the buckets, stream by stream
    residents: Records
    details: Records
    number: IntArray
    score: FloatArray
    meta: IntArray


@inline_kernel
def bucket_of(key: np.int64, stream: int, table: Table) -> int:
    """Bucket of a key. Any number of buckets is possible, and no division is needed."""
    buckets = table.meta.size
    low = mixed(key ^ table.facts[0]["bucket_seed"]) & 0x7FFFFFFF
    return int(stream * buckets + ((low * buckets) >> 31))


@inline_kernel
def link(slot: int, stream: int, table: Table) -> None:
    """Put a resident at the head of its chain."""
    resident = table.residents[slot]
    bucket = bucket_of(resident["key"], stream, table)
    head = table.heads[bucket]
    resident["next"] = head
    resident["previous"] = NOBODY
    if head >= 0:
        table.residents[head]["previous"] = slot
    table.heads[bucket] = slot


@inline_kernel
def take_free(table: Table) -> int:
    """Take a slot from the list of free slots, which must not be empty."""
    slot = int(table.facts[0]["first_free"])
    table.facts[0]["first_free"] = table.residents[slot]["next"]
    return slot


@inline_kernel
def put_free(slot: int, table: Table) -> None:
    """Add a slot to the list of free slots; the slot must be in no chain."""
    table.residents[slot]["next"] = table.facts[0]["first_free"]
    table.facts[0]["first_free"] = slot


@inline_kernel
def unlink(slot: int, stream: int, table: Table) -> None:
    """Take a resident out of its chain."""
    resident = table.residents[slot]
    after, before = resident["next"], resident["previous"]
    if before >= 0:
        table.residents[before]["next"] = after
    else:
        table.heads[bucket_of(resident["key"], stream, table)] = after
    if after >= 0:
        table.residents[after]["previous"] = before


@inline_kernel
def vacate(slot: int, pool: int, table: Table) -> None:
    """Remove a resident: unlink it, and free its slot."""
    stream = table.meta[slot] & STREAM_BITS
    unlink(slot, stream, table)
    table.streams[pool]["used"] -= table.meta[slot] >> SIZE_SHIFT
    table.streams[stream]["residents"] -= 1
    table.facts[0]["count"] -= 1
    table.number[slot] = NOBODY
    table.meta[slot] = DIRTY_BIT
    put_free(slot, table)


@kernel_no_refcount
def vacate_all(slots: IntArray, pooled: int, table: Table) -> None:
    """Remove the residents of these slots."""
    for slot in slots:
        vacate(slot, 0 if pooled else table.meta[slot] & STREAM_BITS, table)


@kernel_no_refcount
def expire_until(
    horizon: tuple[int, ...], pooled: int, table: Table, into_count: IntArray
) -> None:
    """Remove all residents with times up to the horizon of their stream; count them."""
    for slot in range(table.meta.size):
        stream = table.meta[slot] & STREAM_BITS
        due = table.residents[slot]["time"] <= horizon[stream]
        if due and table.meta[slot] & ALIVE_BIT:
            vacate(slot, 0 if pooled else stream, table)
            into_count[stream] += 1


@kernel_no_refcount
def pending(first_number: int, table: Table, into_slot: IntArray) -> None:
    """Find the slots of residents with this number or a greater one, by number."""
    for slot in range(table.number.size):
        if table.number[slot] >= first_number:
            into_slot[table.number[slot] - first_number] = slot


@kernel_no_refcount
def link_free(table: Table) -> None:
    """Rebuild the list of free slots, in ascending order."""
    free = NOBODY
    for slot in range(table.meta.size - 1, -1, -1):
        if not table.meta[slot] & ALIVE_BIT:
            table.residents[slot]["next"] = free
            table.number[slot] = NOBODY
            free = slot
    table.facts[0]["first_free"] = free


@kernel_no_refcount
def relink(slots: IntArray, table: Table) -> None:
    """Rebuild chains and the list of free slots.

    ``slots`` are the slots of all residents, oldest first.
    """
    table.heads[:] = NOBODY
    for stream in range(table.streams.size):
        table.streams[stream]["residents"] = 0
    for slot in slots:
        stream = table.meta[slot] & STREAM_BITS
        table.streams[stream]["residents"] += 1
        link(slot, stream, table)
    table.facts[0]["count"] = slots.size
    link_free(table)


@kernel_no_refcount
def survey(
    before: tuple[int, ...],
    table: Table,
    into_slot: IntArray,
    into_number: IntArray,
    into_score: FloatArray,
    into_early: IntArray,
) -> tuple[int, int]:
    """List slot, number and score of all residents, and which of them are early.

    A resident is early if its time is before the limit of its stream. Returns the
    number of residents, and the number of early residents. The arrays need room for one
    more entry.
    """
    rows, early = 0, 0
    for slot in range(table.meta.size):
        alive = (table.meta[slot] & ALIVE_BIT) != 0
        into_slot[rows] = slot
        into_number[rows] = table.number[slot]
        into_score[rows] = table.score[slot]
        into_early[early] = rows
        limit = before[table.meta[slot] & STREAM_BITS]
        early += alive & (table.residents[slot]["time"] < limit)
        rows += alive
    return rows, early


@kernel_no_refcount
def read_slots(
    slots: IntArray,
    table: Table,
    into_stream: IntArray,
    into_key: IntArray,
    into_time: IntArray,
    into_number: IntArray,
) -> None:
    """Read what a policy sees of residents."""
    for row in range(slots.size):
        slot = slots[row]
        into_stream[row] = table.meta[slot] & STREAM_BITS
        into_key[row] = table.residents[slot]["key"]
        into_time[row] = table.residents[slot]["time"]
        into_number[row] = table.number[slot]


@kernel_no_refcount
def put_scores(slots: IntArray, score: FloatArray, table: Table) -> None:
    """Write the scores of residents, and mark their slots as changed."""
    for row in range(slots.size):
        table.score[slots[row]] = score[row]
        table.meta[slots[row]] |= DIRTY_BIT


@inline_kernel
def is_there(slot: int, number: int, table: Table) -> bool:
    """Whether the resident with this number is still in its slot."""
    return bool(table.number[slot] == number)


@inline_kernel
def note_match(slot: int, time: int, decay: float, table: Table) -> None:
    """Count a match of a resident at ``time``; earlier matches fade by ``decay``."""
    details = table.details[slot]
    if decay > 0.0:
        passed = max(0, time - details["last_match"])
        details["matches"] *= np.exp(-decay * passed)
    details["matches"] += 1.0
    details["last_match"] = max(time, details["last_match"])
    table.meta[slot] |= DIRTY_BIT
