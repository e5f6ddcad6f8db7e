"""Arrivals one after the other: probe, store, shed.

Each kernel goes on from ``cursor`` until the arrivals end or Python is needed, and says
why it stopped. Both leave the table so that the next call can simply go on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import kernel
from shedjoin.kernels.slots import (
    CLOCK,
    COUNT,
    DIRTY_BIT,
    FILL_AT,
    FREE,
    KEY,
    MATCHES,
    NEXT,
    NEXT_NUMBER,
    NOBODY,
    NUMBER,
    PLACE,
    SHEDS,
    SIDE_BIT,
    TIME,
    USED,
    WORDS,
    Newcomer,
    Slots,
    bucket_of,
    count_hits,
    note_match,
    occupy,
    vacate,
)
from shedjoin.kernels.victims import (
    FULL,
    NURSERY_END,
    NURSERY_HEAD,
    Victims,
    grow_up,
    is_there,
    next_victim,
    offer,
)
from shedjoin.types import FloatArray, IntArray

DONE, ROOM, FILL, RECOMPUTE, GROW = range(5)
"""Why a kernel stopped: all arrivals done, no room for matches, no victim known,
scores are due, no free slot."""

ADMIT, PROBE, RETAIN = 1, 2, 4
"""What an arrival does."""

MIN, MAX, SUM, PRODUCT, MEAN = range(5)
"""How the importances of two partners combine."""

REFUSED, EVICTED, OUTLIVED, STORED = 0, 2, 4, 6
TALLIES = 8
GAINED, LIFE, LIFE_SQUARED = range(3)
CURSOR, FOUND, PHASE, GROUP = range(4)
GROUP_ROWS = 64
EMIT, COUNT_IT = 1, 2
_AHEAD = 32
_SECOND = 1e-6


class Arriving(NamedTuple):
    """Arrivals of a round in their order."""

    side: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    score: FloatArray
    place: IntArray
    does: IntArray


class Rules(NamedTuple):
    """What does not change during a round; pairs are (left, right)."""

    keep: tuple[int, int]
    capacity: tuple[int, int]
    pooled: int
    tie: int
    maturity: int
    decay: float
    foresee: int
    combine: int


class Found(NamedTuple):
    """Matches (arrival, payload place of the resident) and counts."""

    arrival: IntArray
    place: IntArray
    tally: IntArray
    sums: FloatArray
    state: IntArray
    group: IntArray


@kernel
def worth(a: float, b: float, combine: int) -> float:
    """Importance of a pair; a side without importance (infinite) has no say."""
    if np.isinf(a) or np.isinf(b):
        value = b if np.isinf(a) else a
        return 1.0 if np.isinf(value) else value
    if combine == MIN:
        return min(a, b)
    if combine == MAX:
        return max(a, b)
    if combine == SUM:
        return a + b
    if combine == PRODUCT:
        return a * b
    return (a + b) / 2.0


@kernel
def touch(first: int, arriving: Arriving, slots: Slots) -> int:
    """Read the bucket heads of the next arrivals, so that their misses overlap."""
    total = 0
    for row in range(first, min(first + _AHEAD, arriving.key.size)):
        for side in range(2):
            head = slots.heads[bucket_of(arriving.key[row], side, slots.heads)]
            if head >= 0:
                total += slots.records[WORDS * head]
    return total


@kernel
def settle(
    since: int, rules: Rules, slots: Slots, victims: tuple[Victims, Victims], out: Found
) -> int:
    """Shed until every pool is within its capacity.

    ``since`` is the arrival number from which a victim counts as refused.
    """
    scalars = slots.scalars
    clock = scalars[CLOCK]
    for pool in range(2):
        while scalars[USED + pool] > rules.capacity[pool]:
            if scalars[SHEDS] <= 0:
                return RECOMPUTE
            mine = victims[pool]
            if clock >= scalars[FILL_AT] or mine.marks[FULL]:
                return FILL
            if rules.maturity >= 0 and not grow_up(
                clock, rules.maturity, rules.tie, slots, mine
            ):
                return FILL
            slot = next_victim(rules.tie, slots, mine)
            if slot == NOBODY:
                return FILL
            base = WORDS * slot
            side = slots.meta[slot] & SIDE_BIT
            stayed = max(0, clock - slots.records[base + TIME])
            if slots.records[base + NUMBER] >= since:
                out.tally[REFUSED + side] += 1
                stayed = 0
            elif stayed > rules.keep[side]:
                out.tally[OUTLIVED + side] += 1
                stayed = rules.keep[side]
            else:
                out.tally[EVICTED + side] += 1
            out.sums[LIFE] += stayed * _SECOND
            out.sums[LIFE_SQUARED] += (stayed * _SECOND) ** 2
            vacate(slot, pool, slots)
            scalars[SHEDS] -= 1
    return DONE


@kernel
def welcome(
    row: int,
    matches: float,
    rules: Rules,
    arriving: Arriving,
    slots: Slots,
    victims: tuple[Victims, Victims],
    out: Found,
) -> int:
    """Make an arrival a resident and a candidate."""
    side = arriving.side[row]
    pool = 0 if rules.pooled else side
    newcomer = Newcomer(
        arriving.key[row],
        arriving.time[row],
        side,
        arriving.place[row],
        arriving.size[row],
        arriving.importance[row],
        arriving.score[row],
        matches,
    )
    slot = occupy(newcomer, pool, slots)
    out.tally[STORED + side] += 1
    number = slots.records[WORDS * slot + NUMBER]
    mine = victims[pool]
    if rules.maturity < 0:
        if not offer(slot, number, arriving.score[row], rules.tie, mine):
            mine.marks[FULL] = 1
        return slot
    end = mine.marks[NURSERY_END]
    size = mine.nursery_slot.size
    if end - mine.marks[NURSERY_HEAD] == size:
        mine.marks[FULL] = 1
        return slot
    mine.nursery_slot[end % size] = slot
    mine.nursery_number[end % size] = number
    mine.nursery_time[end % size] = arriving.time[row]
    mine.marks[NURSERY_END] = end + 1
    return slot


@kernel
def meet(
    row: int,
    since: int,
    how: int,
    rules: Rules,
    arriving: Arriving,
    slots: Slots,
    out: Found,
) -> int:
    """Match an arrival with the residents of the other side; return how many.

    Residents from number ``since`` on are left out: of two rows of an instant the
    later meets the earlier, once.
    """
    side = arriving.side[row]
    other = 1 - side
    time, key = arriving.time[row], arriving.key[row]
    low = time - rules.keep[other]
    high = time + rules.keep[side]
    records = slots.records
    slot = slots.heads[bucket_of(key, other, slots.heads)]
    hits = 0
    while slot >= 0:
        base = WORDS * slot
        when = records[base + TIME]
        same = records[base + KEY] == key and low <= when <= high
        if same and records[base + NUMBER] < since:
            hits += 1
            if how & EMIT:
                place = out.state[FOUND]
                out.arrival[place] = row
                out.place[place] = records[base + PLACE]
                out.state[FOUND] = place + 1
                out.sums[GAINED] += worth(
                    arriving.importance[row], slots.importance[slot], rules.combine
                )
            if how & COUNT_IT:
                note_match(base, time, rules.decay, slots)
                slots.meta[slot] |= DIRTY_BIT
        slot = records[base + NEXT]
    return hits


@kernel
def has_room(
    row: int, rules: Rules, arriving: Arriving, slots: Slots, out: Found
) -> bool:
    """Whether all matches of an arrival fit."""
    free = out.place.size - out.state[FOUND]
    if free >= slots.scalars[COUNT]:
        return True
    side = arriving.side[row]
    low = arriving.time[row] - rules.keep[1 - side]
    high = arriving.time[row] + rules.keep[side]
    return bool(count_hits(arriving.key[row], low, high, 1 - side, slots) <= free)


@kernel
def probe_then_insert(
    rules: Rules,
    arriving: Arriving,
    slots: Slots,
    victims: tuple[Victims, Victims],
    out: Found,
) -> int:
    """One arrival at a time: meet the other side, become a resident, shed."""
    scalars, state = slots.scalars, out.state
    warm = state[CURSOR]
    noise = 0
    while True:
        why = settle(scalars[NEXT_NUMBER] - 1, rules, slots, victims, out)
        if why != DONE:
            return why
        row = state[CURSOR]
        if row == arriving.key.size:
            return DONE
        if row >= warm:
            noise += touch(row, arriving, slots)
            warm = row + _AHEAD
        does = arriving.does[row]
        if scalars[FREE] < 0:
            return GROW
        if does & PROBE and not has_room(row, rules, arriving, slots, out):
            return ROOM
        scalars[CLOCK] = max(scalars[CLOCK], arriving.time[row])
        hits = 0
        if does & PROBE:
            number = scalars[NEXT_NUMBER]
            hits = meet(row, number, EMIT | COUNT_IT, rules, arriving, slots, out)
        if does & RETAIN:
            welcome(row, float(hits), rules, arriving, slots, victims, out)
        else:
            scalars[NEXT_NUMBER] += 1
        state[CURSOR] = row + 1
        scalars[-1] = noise


@kernel
def shed_then_join(
    rules: Rules,
    arriving: Arriving,
    slots: Slots,
    victims: tuple[Victims, Victims],
    out: Found,
) -> int:
    """All arrivals of an instant become residents, then shed, then meet who is left.

    An arrival that did not stay does not probe. With ``foresee`` the instant's matches
    count before victims are chosen, otherwise after.
    """
    scalars, state = slots.scalars, out.state
    while True:
        first = state[CURSOR]
        if state[PHASE] == 0:
            if first == arriving.key.size:
                return DONE
            end = first
            scalars[CLOCK] = max(scalars[CLOCK], arriving.time[first])
            while (
                end < arriving.key.size
                and end - first < GROUP_ROWS
                and arriving.time[end] == arriving.time[first]
            ):
                end += 1
            free, slot = 0, scalars[FREE]
            while slot >= 0 and free < end - first:
                free += 1
                slot = slots.records[WORDS * slot + NEXT]
            if free < end - first:
                return GROW
            state[GROUP] = scalars[NEXT_NUMBER]
            for row in range(first, end):
                out.group[row - first] = NOBODY
                if arriving.does[row] & RETAIN:
                    hits = 0
                    if rules.foresee:
                        everyone = scalars[NEXT_NUMBER]
                        hits = meet(
                            row, everyone, COUNT_IT, rules, arriving, slots, out
                        )
                    out.group[row - first] = welcome(
                        row, float(hits), rules, arriving, slots, victims, out
                    )
                else:
                    scalars[NEXT_NUMBER] += 1
            out.group[GROUP_ROWS] = end - first
            state[PHASE] = 1
        if state[PHASE] == 1:
            why = settle(state[GROUP], rules, slots, victims, out)
            if why != DONE:
                return why
            state[PHASE] = 2
            out.group[GROUP_ROWS + 1] = 0
        while out.group[GROUP_ROWS + 1] < out.group[GROUP_ROWS]:
            place = out.group[GROUP_ROWS + 1]
            row = first + place
            slot, number = out.group[place], state[GROUP] + place
            stays = slot >= 0 and is_there(slot, number, slots)
            if stays and arriving.does[row] & PROBE:
                if not has_room(row, rules, arriving, slots, out):
                    return ROOM
                how = EMIT if rules.foresee else EMIT | COUNT_IT
                hits = meet(row, number, how, rules, arriving, slots, out)
                if not rules.foresee:
                    slots.reals[WORDS * slot + MATCHES] += hits
            out.group[GROUP_ROWS + 1] = place + 1
        state[CURSOR] = first + out.group[GROUP_ROWS]
        state[PHASE] = 0
