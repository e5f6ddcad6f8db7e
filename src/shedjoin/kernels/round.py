"""What the kernels of a round work on: rules, arrivals, and what they find.

A round joins a block of arrivals. The functions of a round take tuples of arrays as
arguments. This costs no time in kernels that count no references
(:func:`shedjoin.kernels.jit.inline_kernel`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.types import FloatArray, Grid, IntArray, IntGrid, Records

DONE, NO_ROOM, FILL, RECOMPUTE, GROW = range(5)
"""Why a kernel stopped: all arrivals are done; there is no room for matches; no
candidate for eviction is known; scores have to be computed again; there is no free
slot."""

ADMIT, PROBE, RETAIN = 1, 2, 4
"""What an arrival does, as bits."""

REFUSED, EVICTED, OUTLIVED, STORED, SPENT, MET = range(6)
"""What a tally counts, by stream: arrivals that were evicted at once; residents that
were evicted, except those whose time was over; residents whose time was over; arrivals
that were stored; residents whose coins were spent. If not all matches are emitted,
``MET`` counts all matches of arrivals, emitted or not."""
REASONS = 6

MATCH = np.dtype(
    [
        ("row", "i4"),  # position of the arrival
        ("look", "i4"),  # through a relation: which look of the arrival found it
        ("place", "i8"),  # of the resident's payload
        ("number", "i8"),  # of the resident
        ("worth", "f8"),  # importance of the result
    ]
)
"""A match of an arrival with a resident. When arrivals look ahead, the number is set
only in a sample."""
MARK = np.dtype([("score", "f8"), ("chance", "f8")])
"""In a sample: what the weight of a match depends on."""
CURSOR = np.dtype(
    [
        ("row", "i8"),  # position of the next arrival
        ("found", "i8"),  # number of matches so far
        ("phase", "i8"),  # the next step for the present instant
        ("instant_row", "i8"),  # position of the next arrival that probes
        ("instant_end", "i8"),
        ("instant_start", "i8"),  # a victim with this or a later number is refused
        ("run_start", "i8"),  # number of the first arrival of the run
        ("block_start", "i8"),  # number of the first arrival of the block
        ("settled", "i8"),  # arrivals from this number on are not in the table yet
        ("victims", "i8"),  # number of victims that are not settled yet
        ("left", "i8"),  # number of slots that were left and not claimed
    ]
)
ALL_SETTLED = 1 << 62
LAGS = np.dtype(
    [
        ("slack", "i8"),  # how long after its time a row is evicted by its score
        ("forgotten", "i8"),  # arrivals before this time may miss outlived partners
    ]
)
"""In a sample: how far arrivals are behind the clock, and which rows were evicted by
the clock."""
VICTIM = np.dtype(
    [
        ("slot", "i8"),
        ("number", "i8"),
        ("since", "i8"),  # if its number is this or later, it counts as refused
        ("clock", "i8"),
        ("over", "i8"),  # whether its time was over
    ]
)
"""A row that has left its slot."""
SUMS = np.dtype(
    [("gained", "f8"), ("life", "f8"), ("life_squared", "f8"), ("touched", "f8")]
)
"""Importance of the matches; seconds that rows stayed, and the squares of these
seconds. ``touched`` is a sum of values that were read ahead. It has no meaning, but
without it the compiler would leave out these reads."""


class Looks(NamedTuple):
    """Keys of the other stream for which arrivals look, each with a range of times.

    The looks of an arrival begin at its entry in ``first`` and end where those of the
    next arrival begin. They are given if a relation says which keys belong together.
    Without a relation, an arrival looks for its own key.
    """

    first: IntArray
    key: IntArray
    low: IntArray
    high: IntArray


NO_LOOKS = Looks(*(np.zeros(0, np.int64) for _ in range(4)))


class Peers(NamedTuple):
    """Arrivals of a block, sorted by instant, stream and key.

    ``at`` has their positions in the block. ``first`` and ``end`` say for each arrival
    where the arrivals of its instant begin and end. Peers are given if arrivals of an
    instant are matched with each other whether they are stored or not.
    """

    first: IntArray
    end: IntArray
    stream: IntArray
    key: IntArray
    at: IntArray


NO_PEERS = Peers(*(np.zeros(0, np.int64) for _ in range(5)))


class Arriving(NamedTuple):
    """Arrivals of a block in their order; ``expiry`` is the latest time of a match."""

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
    """What does not change during a round; ``keep`` is by stream, ``capacity`` by pool.

    With ``related``, arrivals look for the keys to which a relation connects their own
    key. With ``all_probe``, arrivals also look for matches if they were evicted at
    once. With ``sheds_last``, the arrivals of an instant are matched before any of them
    is evicted.
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
    """Matches, counts, and the rows that have left their slots.

    ``victims`` are rows that are not settled yet, and ``left`` are the slots that they
    left. When arrivals look ahead, ``slot_by_row`` has the slot of each arrival that is
    stored. ``evicted_by_slot`` has the number of the arrival at which the resident of a
    slot was evicted. ``evicted_by_row`` has the same for arrivals. Evictions before
    ``run_start`` are ignored. Arrays that are not needed are empty.

    ``hits`` has the number of matches of each arrival before it is stored. It is used
    if all arrivals of an instant are matched first.

    The last arrays are used in samples only. ``raised`` has the highest score that was
    evicted in each pool: before the first arrival of the block, at the first arrival,
    and so on. ``doubtful`` marks arrivals that may have lost partners because the clock
    had passed the time of these partners. ``lags`` says how far arrivals are behind the
    clock.
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
    """The arrival at a position of the block, with its number."""
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
    """Write down a match, for which there must be room; return its index."""
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
    """The pool in which rows of a stream compete for room."""
    return 0 if rules.pooled else stream


@inline_kernel
def count_life(stayed_us: int, out: Found) -> None:
    """Add the time for which a row stayed to the sums of lifetimes."""
    seconds = stayed_us * 1e-6
    out.sums[0]["life"] += seconds
    out.sums[0]["life_squared"] += seconds * seconds
