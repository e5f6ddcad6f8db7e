"""Arrivals one after the other: probe, store, shed.

Each kernel goes on from ``state[CURSOR]`` until the arrivals end or Python is needed,
and says why it stopped. Both leave the table so that the next call can simply go on.
"""

from __future__ import annotations

from shedjoin.kernels.jit import lean, step
from shedjoin.kernels.leaving import settle, shed_for_last, touch
from shedjoin.kernels.slots import (
    FREE,
    MATCHES,
    NEXT,
    NEXT_NUMBER,
    NOBODY,
    clock_after,
    record_of,
    set_clock,
)
from shedjoin.kernels.stages import (
    AHEAD,
    COUNT_IT,
    CURSOR,
    DONE,
    EMIT,
    GROUP_AT,
    GROUP_END,
    GROUP_ROWS,
    GROW,
    LIFE_SQUARED,
    PHASE,
    PROBE,
    RETAIN,
    ROOM,
    SINCE,
    Arriving,
    Found,
    Rules,
    Table,
    Victims,
    has_room,
    meet,
    row_at,
    welcome,
)
from shedjoin.kernels.victims import is_there
from shedjoin.types import IntArray


@lean
def probe_then_insert(
    rules: Rules, arriving: Arriving, table: Table, victims: Victims, out: Found
) -> int:
    """One arrival at a time: meet the other side, become a resident, shed."""
    words, state = table.words, out.state
    warm = state[CURSOR]
    noise = 0.0
    while True:
        why = shed_for_last(rules, table, victims, out)
        if why != DONE:
            return why
        at = state[CURSOR]
        if at == arriving.key.size:
            return DONE
        if at >= warm:
            noise += touch(at, arriving.key, table, victims.cells)
            warm = at + AHEAD
            out.sums[LIFE_SQUARED + 1] = noise
        if words[FREE] < 0:
            return GROW
        row = row_at(at, words[NEXT_NUMBER], arriving)
        does = arriving.does[at]
        hits = 0
        if does & PROBE:
            if not has_room(row, rules, words, out):
                return ROOM
            hits = meet(row, row.number, EMIT | COUNT_IT, rules, table, out)
        clock = clock_after(row.time, row.side, words)
        set_clock(clock, row.side, rules.window, words)
        if does & RETAIN:
            welcome(row, hits, rules, arriving, table, victims, out)
        else:
            words[NEXT_NUMBER] += 1
        state[CURSOR] = at + 1


@step
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


@step
def enter(
    first: int,
    end: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    victims: Victims,
    out: Found,
) -> None:
    """All arrivals of an instant become residents."""
    words, state = table.words, out.state
    for at in range(first, end):
        time, side = arriving.time[at], arriving.side[at]
        set_clock(clock_after(time, side, words), side, rules.window, words)
    state[SINCE] = words[NEXT_NUMBER]
    for at in range(first, end):
        out.group[at - first] = NOBODY
        if arriving.does[at] & RETAIN:
            row = row_at(at, words[NEXT_NUMBER], arriving)
            hits = 0
            if rules.foresee:
                hits = meet(row, row.number, COUNT_IT, rules, table, out)
            slot = welcome(row, hits, rules, arriving, table, victims, out)
            out.group[at - first] = slot
        else:
            words[NEXT_NUMBER] += 1
    state[GROUP_END] = end
    state[GROUP_AT] = first


@lean
def shed_then_join(
    rules: Rules, arriving: Arriving, table: Table, victims: Victims, out: Found
) -> int:
    """All arrivals of an instant become residents, then shed, then meet who is left.

    An arrival that did not stay does not probe. With ``foresee`` the instant's matches
    count before victims are chosen, otherwise after.
    """
    words, state = table.words, out.state
    while True:
        first = state[CURSOR]
        if state[PHASE] == 0:
            if first == arriving.key.size:
                return DONE
            end = open_group(first, arriving.time, words)
            if end == 0:
                return GROW
            enter(first, end, rules, arriving, table, victims, out)
            state[PHASE] = 1
        if state[PHASE] == 1:
            why = settle(rules, table, victims, out)
            if why != DONE:
                return why
            state[PHASE] = 2
        while state[GROUP_AT] < state[GROUP_END]:
            at = state[GROUP_AT]
            slot = out.group[at - first]
            row = row_at(at, state[SINCE] + at - first, arriving)
            stays = slot >= 0 and is_there(slot, row.number, words)
            if stays and arriving.does[at] & PROBE:
                if not has_room(row, rules, words, out):
                    return ROOM
                how = EMIT if rules.foresee else EMIT | COUNT_IT
                hits = meet(row, row.number, how, rules, table, out)
                if not rules.foresee:
                    table.reals[record_of(slot, words) + MATCHES] += hits
            state[GROUP_AT] = at + 1
        state[CURSOR] = state[GROUP_END]
        state[PHASE] = 0
