"""Matches of many arrivals at once, where matches do not decide who is shed.

Scores that do not depend on matches say who leaves and when without any probing. So a
run of arrivals first looks up all residents it could meet, with the chains of many
arrivals walked side by side; then it is decided who is stored and who is shed; and at
last those pairs are taken out whose resident had left before the arrival came. Within
the run, arrivals meet through a small index of those that stayed at least a moment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import lean
from shedjoin.kernels.leaving import (
    is_hopeless,
    refuse,
    shed_for_last,
    touch_newcomers,
    touch_victims,
)
from shedjoin.kernels.slots import (
    FREE,
    KEY,
    LONGEST,
    NEXT,
    NEXT_NUMBER,
    NOBODY,
    NUMBER,
    PLACE,
    TIME,
    clock_after,
    head_of,
    record_of,
    set_clock,
)
from shedjoin.kernels.stages import (
    AHEAD,
    CURSOR,
    DONE,
    FIRST,
    FOUND,
    GAINED,
    GROW,
    LIFE_SQUARED,
    PROBE,
    RETAIN,
    ZERO,
    Arriving,
    Found,
    Rules,
    Table,
    Victims,
    coin,
    row_at,
    welcome,
    wins,
    worth,
)
from shedjoin.types import FloatArray, IntArray

SIDE_BY_SIDE = 64
PAIR = 4
"""Words of a candidate: arrival, payload place, number and slot of the resident."""


class Candidates(NamedTuple):
    """Pairs that may be matches, their worth, and room to work in."""

    pairs: IntArray
    worth: FloatArray
    marks: FloatArray
    walker: IntArray
    at: IntArray


@lean
def look_up(
    start: int, rules: Rules, arriving: Arriving, table: Table, into: Candidates
) -> tuple[int, int]:
    """Find the residents that arrivals from ``start`` on could meet.

    Returns the number of pairs and the arrival to go on from: those whose pairs do not
    fit any more are left for the next time.
    """
    words, room = table.words, into.worth.size
    found, first, block = 0, start, SIDE_BY_SIDE
    number = words[NEXT_NUMBER] - start
    while first < arriving.key.size:
        end = min(first + block, arriving.key.size)
        before, walking, steps = found, 0, 0
        for row in range(first, end):
            slot = words[head_of(arriving.key[row], 1 - arriving.side[row], words)]
            into.walker[walking] = row
            into.at[walking] = slot
            walking += slot >= 0 and (arriving.does[row] & PROBE) != 0
        while 0 < walking <= room - found:
            left = 0
            for place in range(walking):
                row, slot = into.walker[place], into.at[place]
                base = record_of(slot, words)
                side, time = arriving.side[row], arriving.time[row]
                when = words[base + TIME]
                same = (
                    words[base + KEY] == arriving.key[row]
                    and time - rules.keep[1 - side] <= when <= time + rules.keep[side]
                )
                if same and rules.thins:
                    same = wins(slot, base, number + row, rules, table)
                pair = PAIR * found
                into.pairs[pair] = row
                into.pairs[pair + 1] = words[base + PLACE]
                into.pairs[pair + 2] = words[base + NUMBER]
                into.pairs[pair + 3] = slot
                if same and rules.weighs:
                    into.marks[2 * found] = table.score[slot]
                    into.marks[2 * found + 1] = table.chance[slot]
                if same and rules.valued:
                    mine, theirs = arriving.importance[row], table.importance[slot]
                    into.worth[found] = worth(mine, theirs, rules.combine)
                found += same
                into.walker[left] = row
                into.at[left] = words[base + NEXT]
                left += into.at[left] >= 0
            walking = left
            steps += 1
        words[LONGEST] = max(words[LONGEST], steps)
        if not walking:
            first = end
        elif block > 1:
            found, block = before, 1
        else:
            return before, first
    return found, int(arriving.key.size)


@lean
def insert_until(
    end: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    victims: Victims,
    out: Found,
) -> int:
    """Store and shed, arrival by arrival up to ``end``; who leaves when is noted."""
    words, state = table.words, out.state
    warm = state[CURSOR]
    noise = 0.0
    while True:
        why = shed_for_last(rules, table, victims, out)
        if why != DONE:
            return why
        at = state[CURSOR]
        if at == end:
            return DONE
        if at >= warm:
            noise += touch_victims(table, victims.cells)
            noise += touch_newcomers(at, end, arriving, table, victims)
            warm = at + AHEAD
            out.sums[LIFE_SQUARED + 1] = noise
        row = row_at(at, words[NEXT_NUMBER], arriving)
        clock = clock_after(row.time, row.side, words)
        stays = False
        if arriving.does[at] & RETAIN:
            size, score = arriving.size[at], arriving.score[at]
            if is_hopeless(row, size, score, clock, rules, table, victims):
                refuse(row, score, rules, table, out)
            elif words[FREE] < 0:
                return GROW
            else:
                stays = True
        else:
            words[NEXT_NUMBER] += 1
        set_clock(clock, row.side, rules.window, words)
        if stays:
            welcome(row, 0, rules, arriving, table, victims, out)
        state[CURSOR] = at + 1


@lean
def still_there(count: int, rules: Rules, into: Candidates, out: Found) -> None:
    """Take those candidates as matches whose resident was there when they met."""
    state, first, zero = out.state, out.state[FIRST], out.state[ZERO]
    found = state[FOUND]
    for each in range(count):
        pair = PAIR * each
        row = into.pairs[pair]
        left = out.left[into.pairs[pair + 3]]
        meet = row < state[CURSOR] and (left < first or left >= zero + row)
        out.pairs[3 * found] = row
        out.pairs[3 * found + 1] = into.pairs[pair + 1]
        out.pairs[3 * found + 2] = into.pairs[pair + 2]
        if rules.weighs:
            out.marks[2 * found] = into.marks[2 * each]
            out.marks[2 * found + 1] = into.marks[2 * each + 1]
        found += meet
        if meet:
            out.sums[GAINED] += into.worth[each] if rules.valued else 1.0
    state[FOUND] = found


@lean
def meet_each_other(
    start: int,
    rules: Rules,
    arriving: Arriving,
    heads: IntArray,
    after: IntArray,
    words: IntArray,
    out: Found,
) -> int:
    """Match arrivals of a run, from ``start`` on, with each other.

    Returns the arrival to go on from: before it, all matches are found.
    """
    state, zero = out.state, out.state[ZERO]
    mask = heads.size // 2 - 1
    found, room = state[FOUND], out.pairs.size // 3
    for row in range(start, state[CURSOR]):
        key, side, time = arriving.key[row], arriving.side[row], arriving.time[row]
        bucket = 2 * (mixed(key ^ rules.bucket_seed) & mask)
        before = found
        other = heads[bucket + 1 - side] if arriving.does[row] & PROBE else NOBODY
        low, high = time - rules.keep[1 - side], time + rules.keep[side]
        steps = 0
        while other >= 0:
            steps += 1
            same = arriving.key[other] == key and low <= arriving.time[other] <= high
            same = same and out.gone[other] >= zero + row
            if same and rules.thins:
                toss = coin(rules.seed, key, np.int64(zero + other), ~(zero + row))
                same = toss < arriving.chance[other]
            if same:
                if found == room:
                    state[FOUND] = before
                    return row
                out.pairs[3 * found] = row
                out.pairs[3 * found + 1] = arriving.place[other]
                out.pairs[3 * found + 2] = zero + other
                if rules.weighs:
                    out.marks[2 * found] = arriving.score[other]
                    out.marks[2 * found + 1] = arriving.chance[other]
                found += 1
            other = after[other]
        words[LONGEST] = max(words[LONGEST], steps)
        if rules.valued:
            for each in range(before, found):
                theirs = arriving.place[0] - out.pairs[3 * each + 1]
                mine, other_one = arriving.importance[row], arriving.importance[theirs]
                out.sums[GAINED] += worth(mine, other_one, rules.combine)
        else:
            out.sums[GAINED] += found - before
        if out.gone[row] > zero + row and arriving.does[row] & RETAIN:
            after[row] = heads[bucket + side]
            heads[bucket + side] = row
    state[FOUND] = found
    return int(state[CURSOR])
