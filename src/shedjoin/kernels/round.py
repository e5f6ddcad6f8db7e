"""What the kernels of a round work on: rules, arrivals, and what they find.

Steps of a round take bundles of arrays. That costs nothing in kernels that count no
references (:func:`shedjoin.kernels.jit.inline_kernel`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.types import FloatArray, Grid, IntArray, IntGrid, Records

DONE, NO_ROOM, FILL, RECOMPUTE, GROW = range(5)
"""Why a kernel stopped: all arrivals done, no room for matches, nobody known who could
leave, scores are due, no free slot."""

ADMIT, PROBE, RETAIN = 1, 2, 4
"""What an arrival does."""

REFUSED, EVICTED, OUTLIVED, STORED, SPENT, MET = range(6)
"""What a tally counts, by stream: arrivals that left at once, residents shed, those of
them whose time was over, arrivals stored, residents whose coins were spent; and, where
not all matches are emitted, all those of an arrival."""
REASONS = 6

MATCH = np.dtype(
    [
        ("row", "i4"),  # the arrival
        ("look", "i4"),  # which of its looks found the resident; of related streams
        ("place", "i8"),  # of the resident's payload
        ("number", "i8"),  # of the resident; of what was looked up ahead, for a sample
        ("worth", "f8"),  # importance of the result
    ]
)
"""A match of an arrival with a resident."""
MARK = np.dtype([("score", "f8"), ("chance", "f8")])
"""Of a sample: what the weight of a match depends on."""
CURSOR = np.dtype(
    [
        ("row", "i8"),  # the next arrival
        ("found", "i8"),  # matches so far
        ("phase", "i8"),  # of an instant
        ("instant_row", "i8"),  # the next arrival of the instant to probe
        ("instant_end", "i8"),
        ("instant_start", "i8"),  # number from which on a victim counts as refused
        ("run_start", "i8"),  # number of the first arrival of the run
        ("block_start", "i8"),  # and of the block
        ("settled", "i8"),  # number from which on arrivals are not in the table yet
        ("victims", "i8"),  # who left since it was settled
        ("left", "i8"),  # slots that they left and nobody has claimed
    ]
)
ALL_SETTLED = 1 << 62
LAGS = np.dtype(
    [
        ("slack", "i8"),  # how long a row stays a candidate like others, once outlived
        ("forgotten", "i8"),  # time before which partners were shed as outlived
    ]
)
"""Of a sample: how far arrivals are behind the clock, and what was shed by it."""
VICTIM = np.dtype(
    [
        ("slot", "i8"),
        ("number", "i8"),
        ("since", "i8"),  # number from which on it would count as refused
        ("clock", "i8"),
        ("over", "i8"),  # whether its time was
    ]
)
"""Who left."""
SUMS = np.dtype(
    [("gained", "f8"), ("life", "f8"), ("life_squared", "f8"), ("touched", "f8")]
)
"""Importance of matches; seconds that rows stayed, and their squares; and what was read
ahead, which says nothing but keeps the compiler from leaving it out."""


class Looks(NamedTuple):
    """Keys of the other stream that rows look for, and between which times.

    Those of a row stand from ``first`` of the row on, up to that of the next one. They
    are there where a relation says which keys go together; else a row has its own key.
    """

    first: IntArray
    key: IntArray
    low: IntArray
    high: IntArray


NO_LOOKS = Looks(*(np.zeros(0, np.int64) for _ in range(4)))


class Peers(NamedTuple):
    """Arrivals of a block by instant, stream and key; ``at`` says which they are.

    Those of an instant stand from ``first`` to ``end`` of any of its arrivals. They are
    there where arrivals of an instant meet each other whoever of them is stored.
    """

    first: IntArray
    end: IntArray
    stream: IntArray
    key: IntArray
    at: IntArray


NO_PEERS = Peers(*(np.zeros(0, np.int64) for _ in range(5)))


class Arriving(NamedTuple):
    """Arrivals of a block in their order; ``expiry`` is the last time of a match."""

    first_number: int
    stream: IntArray
    key: IntArray
    time: IntArray
    expiry: IntArray
    importance: FloatArray
    size: IntArray
    score: FloatArray
    place: IntArray
    does: IntArray
    chance: FloatArray
    coins: IntArray
    looks: Looks = NO_LOOKS
    peers: Peers = NO_PEERS


class Rules(NamedTuple):
    """What does not change during a round; tuples are by stream, capacity by pool.

    If two streams are ``related``, arrivals look for the keys that a relation has for
    theirs. If ``all_probe``, so do those who were shed at once; if ``sheds_last``, the
    arrivals of an instant meet before any of them is shed.
    """

    keep: tuple[int, ...]
    capacity: tuple[int, ...]
    pooled: int
    tie: int
    maturity: int
    decay: float
    counts_instant_first: int
    combine: int
    valued: int
    thins: int
    tosses: int
    weighs: int
    seed: int
    window: int
    related: int = 0
    all_probe: int = 0
    sheds_last: int = 0


class Found(NamedTuple):
    """Matches, counts, and who had to leave.

    ``victims`` and the slots that were ``left`` wait to be settled. When looking ahead,
    ``slot_by_row`` holds the slot of each arrival that is there; ``evicted_by_slot``
    holds the number of the arrival that made the resident of a slot leave, and
    ``evicted_by_row`` likewise that of an arrival; only what left since ``run_start``
    counts. These are empty where nobody asks.

    ``hits`` are matches that an arrival has before it is stored, with an instant of
    which all meet first.

    ``raised`` holds, for each pool, the highest score that had to leave: before any
    arrival of the block, by the first one, and so on. Of a sample only, as ``doubtful``
    and ``lags``: arrivals that may have lost partners to the clock, and why.
    """

    matches: Records
    marks: Records
    cursor: Records
    tally: IntGrid
    sums: Records
    instant_slots: IntArray
    victims: Records
    left: IntArray
    slot_by_row: IntArray
    evicted_by_slot: IntArray
    evicted_by_row: IntArray
    hits: IntArray
    raised: Grid
    doubtful: IntArray
    lags: Records


class Row(NamedTuple):
    """One arrival that looks for matches."""

    key: np.int64
    time: int
    stream: int
    importance: float
    at: int
    number: int


@inline_kernel
def row_at(at: int, number: int, arriving: Arriving) -> Row:
    """One arrival with its number."""
    return Row(
        arriving.key[at],
        arriving.time[at],
        arriving.stream[at],
        arriving.importance[at],
        at,
        number,
    )


@inline_kernel
def put_match(
    row: int | np.int64, place: int, number: int, value: float, out: Found
) -> int:
    """Write down a match, for which there is room; return which one it is."""
    found = int(out.cursor[0]["found"])
    match = out.matches[found]
    match["row"] = row
    match["place"] = place
    match["number"] = number
    match["worth"] = value
    out.cursor[0]["found"] = found + 1
    return found


@inline_kernel
def pool_of(stream: int, rules: Rules) -> int:
    """The pool in which rows of a stream compete."""
    return 0 if rules.pooled else stream


@inline_kernel
def count_life(stayed_us: int, out: Found) -> None:
    """Add the time that a row stayed to the lifetimes."""
    seconds = stayed_us * 1e-6
    out.sums[0]["life"] += seconds
    out.sums[0]["life_squared"] += seconds * seconds
