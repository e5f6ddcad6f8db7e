"""Arrivals one after the other: probe, store, shed.

Each kernel goes on from ``state[CURSOR]`` until the arrivals end or Python is needed,
and says why it stopped. Both leave the table so that the next call can simply go on.
Bundles of arrays are taken apart once, at the top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import lean
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
    Newcomer,
    count_hits,
    head_of,
    note_match,
    occupy,
    record_of,
    vacate,
)
from shedjoin.kernels.victims import (
    FULL,
    HEAD,
    QUEUE_AT,
    QUEUE_END,
    QUEUE_HEAD,
    expect,
    expired,
    grow_up,
    is_there,
    next_victim,
    offer,
    rear,
)
from shedjoin.types import FloatArray, IntArray

DONE, ROOM, FILL, RECOMPUTE, GROW = range(5)
"""Why a kernel stopped: all arrivals done, no room for matches, no victim known,
scores are due, no free slot."""

ADMIT, PROBE, RETAIN = 1, 2, 4
"""What an arrival does."""

MIN, MAX, SUM, PRODUCT, MEAN = range(5)
"""How the importances of two partners combine."""

GAINED, LIFE, LIFE_SQUARED = range(3)
REFUSED, EVICTED, OUTLIVED, STORED = 0, 2, 4, 6
CURSOR, FOUND, PHASE, SINCE, GROUP_END, GROUP_AT = range(8, 14)
STATE = 16
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
    chance: FloatArray


class Table(NamedTuple):
    """The slot table; ``words`` and ``reals`` are the same memory."""

    words: IntArray
    reals: FloatArray
    score: FloatArray
    importance: FloatArray
    meta: IntArray
    chance: FloatArray


class Victims(NamedTuple):
    """Candidates of both pools."""

    cells: IntArray
    worths: FloatArray


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
    thins: int
    seed: int


class Found(NamedTuple):
    """Matches (arrival, payload place of the resident) in turn, counts, cursors."""

    pairs: IntArray
    state: IntArray
    sums: FloatArray
    group: IntArray


class Row(NamedTuple):
    """One arrival that looks for matches."""

    key: np.int64
    time: int
    side: int
    importance: float
    at: int
    number: int


@lean
def coin(seed: int, one: np.int64, other: int) -> float:
    """Toss a coin for two arrival numbers: in [0, 1), always the same."""
    bits = mixed(mixed(one + seed) ^ other)
    return float((bits >> 11) & 0x1FFFFFFFFFFFFF) / 9007199254740992.0


@lean
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


@lean
def touch(
    first: int,
    key: IntArray,
    words: IntArray,
    importance: FloatArray,
    meta: IntArray,
    cells: IntArray,
) -> float:
    """Read what the next arrivals and their victims will need.

    The reads do not depend on each other, so their cache misses overlap; one by one
    they would be most of the work.
    """
    total = 0.0
    for row in range(first, min(first + _AHEAD, key.size)):
        for side in range(2):
            head = words[head_of(key[row], side, words)]
            if head >= 0:
                total += words[record_of(head, words)] + meta[head] + importance[head]
    for pool in range(2):
        head = HEAD * pool
        start, end = cells[head + QUEUE_HEAD], cells[head + QUEUE_END]
        for place in range(start, min(start + _AHEAD, end)):
            slot = cells[cells[head + QUEUE_AT] + 2 * place]
            bits = meta[slot]
            key_there = words[record_of(slot, words) + KEY]
            total += words[head_of(key_there, bits & SIDE_BIT, words)]
    return total


@lean
def settle(  # noqa: PLR0913, PLR0917  (arrays one by one)
    rules: Rules,
    words: IntArray,
    score: FloatArray,
    meta: IntArray,
    cells: IntArray,
    worths: FloatArray,
    state: IntArray,
    sums: FloatArray,
) -> int:
    """Shed until every pool is within its capacity.

    A victim with an arrival number from ``state[SINCE]`` on counts as refused.
    """
    clock = words[CLOCK]
    for pool in range(2):
        head = HEAD * pool
        while words[USED + pool] > rules.capacity[pool]:
            if words[SHEDS] <= 0:
                return RECOMPUTE
            if clock >= words[FILL_AT] or cells[head + FULL]:
                return FILL
            grown = clock - rules.maturity
            if rules.maturity >= 0 and not grow_up(
                grown, rules.tie, head, words, score, cells, worths
            ):
                return FILL
            slot = expired(clock, head, words, cells)
            if slot == NOBODY:
                slot = next_victim(rules.tie, head, words, cells, worths)
            if slot == NOBODY:
                return FILL
            base = record_of(slot, words)
            side = meta[slot] & SIDE_BIT
            stayed = max(0, clock - words[base + TIME])
            if words[base + NUMBER] >= state[SINCE]:
                state[REFUSED + side] += 1
                stayed = 0
            elif stayed > rules.keep[side]:
                state[OUTLIVED + side] += 1
                stayed = rules.keep[side]
            else:
                state[EVICTED + side] += 1
            seconds = stayed * _SECOND
            sums[LIFE] += seconds
            sums[LIFE_SQUARED] += seconds * seconds
            vacate(slot, pool, words, meta)
            words[SHEDS] -= 1
    return DONE


@lean
def introduce(  # noqa: PLR0913, PLR0917  (arrays one by one)
    slot: int,
    score: float,
    keep: int,
    rules: Rules,
    head: int,
    words: IntArray,
    cells: IntArray,
    worths: FloatArray,
) -> None:
    """Make a new resident a candidate; a fill finds it if there is no room."""
    base = record_of(slot, words)
    number = words[base + NUMBER]
    expiry = words[base + TIME] + keep
    if rules.maturity < 0:
        fits = offer(slot, number, score, rules.tie, head, cells, worths)
    else:
        fits = rear(slot, number, words[base + TIME], head, cells)
    if expiry < words[FILL_AT]:
        fits = expect(slot, number, expiry, head, cells) and fits
    if not fits:
        cells[head + FULL] = 1


@lean
def meet(  # noqa: PLR0913, PLR0917  (arrays one by one)
    row: Row,
    since: int,
    how: int,
    rules: Rules,
    words: IntArray,
    reals: FloatArray,
    importance: FloatArray,
    meta: IntArray,
    chance: FloatArray,
    pairs: IntArray,
    state: IntArray,
    sums: FloatArray,
) -> int:
    """Match an arrival with the residents of the other side; return how many.

    Residents from number ``since`` on are left out: of two rows of an instant the
    later meets the earlier, once.
    """
    other = 1 - row.side
    low = row.time - rules.keep[other]
    high = row.time + rules.keep[row.side]
    slot = words[head_of(row.key, other, words)]
    hits = 0
    while slot >= 0:
        base = record_of(slot, words)
        same = words[base + KEY] == row.key and low <= words[base + TIME] <= high
        if same and words[base + NUMBER] < since:
            hits += 1
            if how & EMIT and (
                not rules.thins
                or coin(rules.seed, words[base + NUMBER], row.number) < chance[slot]
            ):
                place = state[FOUND]
                pairs[2 * place] = row.at
                pairs[2 * place + 1] = words[base + PLACE]
                state[FOUND] = place + 1
                sums[GAINED] += worth(row.importance, importance[slot], rules.combine)
            if how & COUNT_IT:
                note_match(base, row.time, rules.decay, words, reals)
                meta[slot] |= DIRTY_BIT
        slot = words[base + NEXT]
    return hits


@lean
def has_room(row: Row, rules: Rules, words: IntArray, free: int) -> bool:
    """Whether all matches of an arrival fit."""
    if free >= words[COUNT]:
        return True
    low = row.time - rules.keep[1 - row.side]
    high = row.time + rules.keep[row.side]
    return bool(count_hits(row.key, low, high, 1 - row.side, words) <= free)


@lean
def probe_then_insert(
    rules: Rules, arriving: Arriving, table: Table, victims: Victims, out: Found
) -> int:
    """One arrival at a time: meet the other side, become a resident, shed."""
    sides, keys, times, importances, sizes, scores, places, does, chances = arriving
    words, reals, score, importance, meta, chance = table
    cells, worths = victims
    pairs, state, sums, _ = out
    room = pairs.size // 2
    warm = state[CURSOR]
    noise = 0.0
    while True:
        if words[USED] > rules.capacity[0] or words[USED + 1] > rules.capacity[1]:
            state[SINCE] = words[NEXT_NUMBER] - 1
            why = settle(rules, words, score, meta, cells, worths, state, sums)
            if why != DONE:
                return why
        at = state[CURSOR]
        if at == keys.size:
            return DONE
        if at >= warm:
            noise += touch(at, keys, words, importance, meta, cells)
            warm = at + _AHEAD
            sums[LIFE_SQUARED + 1] = noise
        if words[FREE] < 0:
            return GROW
        side = sides[at]
        row = Row(keys[at], times[at], side, importances[at], at, words[NEXT_NUMBER])
        hits = 0
        if does[at] & PROBE:
            if not has_room(row, rules, words, room - state[FOUND]):
                return ROOM
            words[CLOCK] = max(words[CLOCK], row.time)
            hits = meet(
                row,
                words[NEXT_NUMBER],
                EMIT | COUNT_IT,
                rules,
                words,
                reals,
                importance,
                meta,
                chance,
                pairs,
                state,
                sums,
            )
        words[CLOCK] = max(words[CLOCK], row.time)
        if does[at] & RETAIN:
            pool = 0 if rules.pooled else side
            newcomer = Newcomer(
                row.key, row.time, side, places[at], sizes[at], float(hits)
            )
            slot = occupy(newcomer, pool, words, reals, meta)
            score[slot] = scores[at]
            importance[slot] = row.importance
            chance[slot] = chances[at]
            state[STORED + side] += 1
            introduce(
                slot,
                scores[at],
                rules.keep[side],
                rules,
                HEAD * pool,
                words,
                cells,
                worths,
            )
        else:
            words[NEXT_NUMBER] += 1
        state[CURSOR] = at + 1


@lean
def open_group(first: int, times: IntArray, words: IntArray) -> int:
    """End of the arrivals of one instant, or of a part of them; 0 without slots."""
    end = first
    while end < times.size and end - first < GROUP_ROWS and times[end] == times[first]:
        end += 1
    free, slot = 0, words[FREE]
    while slot >= 0 and free < end - first:
        free += 1
        slot = words[record_of(slot, words) + NEXT]
    return end if free == end - first else 0


@lean
def shed_then_join(
    rules: Rules, arriving: Arriving, table: Table, victims: Victims, out: Found
) -> int:
    """All arrivals of an instant become residents, then shed, then meet who is left.

    An arrival that did not stay does not probe. With ``foresee`` the instant's matches
    count before victims are chosen, otherwise after.
    """
    sides, keys, times, importances, sizes, scores, places, does, chances = arriving
    words, reals, score, importance, meta, chance = table
    cells, worths = victims
    pairs, state, sums, group = out
    while True:
        first = state[CURSOR]
        if state[PHASE] == 0:
            if first == keys.size:
                return DONE
            end = open_group(first, times, words)
            if end == 0:
                return GROW
            words[CLOCK] = max(words[CLOCK], times[first])
            state[SINCE] = words[NEXT_NUMBER]
            for at in range(first, end):
                group[at - first] = NOBODY
                if not does[at] & RETAIN:
                    words[NEXT_NUMBER] += 1
                    continue
                side = sides[at]
                pool = 0 if rules.pooled else side
                number = words[NEXT_NUMBER]
                row = Row(keys[at], times[at], side, importances[at], at, number)
                hits = 0
                if rules.foresee:
                    hits = meet(
                        row,
                        words[NEXT_NUMBER],
                        COUNT_IT,
                        rules,
                        words,
                        reals,
                        importance,
                        meta,
                        chance,
                        pairs,
                        state,
                        sums,
                    )
                newcomer = Newcomer(
                    row.key, row.time, side, places[at], sizes[at], float(hits)
                )
                slot = occupy(newcomer, pool, words, reals, meta)
                score[slot] = scores[at]
                importance[slot] = row.importance
                chance[slot] = chances[at]
                state[STORED + side] += 1
                introduce(
                    slot,
                    scores[at],
                    rules.keep[side],
                    rules,
                    HEAD * pool,
                    words,
                    cells,
                    worths,
                )
                group[at - first] = slot
            state[GROUP_END] = end
            state[GROUP_AT] = first
            state[PHASE] = 1
        if state[PHASE] == 1:
            why = settle(rules, words, score, meta, cells, worths, state, sums)
            if why != DONE:
                return why
            state[PHASE] = 2
        while state[GROUP_AT] < state[GROUP_END]:
            at = state[GROUP_AT]
            slot, number = group[at - first], state[SINCE] + at - first
            if slot >= 0 and is_there(slot, number, words) and does[at] & PROBE:
                row = Row(keys[at], times[at], sides[at], importances[at], at, number)
                if not has_room(row, rules, words, pairs.size // 2 - state[FOUND]):
                    return ROOM
                how = EMIT if rules.foresee else EMIT | COUNT_IT
                hits = meet(
                    row,
                    number,
                    how,
                    rules,
                    words,
                    reals,
                    importance,
                    meta,
                    chance,
                    pairs,
                    state,
                    sums,
                )
                if not rules.foresee:
                    reals[record_of(slot, words) + MATCHES] += hits
            state[GROUP_AT] = at + 1
        state[CURSOR] = state[GROUP_END]
        state[PHASE] = 0
