"""Arrivals one after the other: probe, store, shed.

Each kernel goes on from its cursor until the arrivals end or Python is needed, and says
why it stopped. Both leave the table so that the next call can simply go on.
"""

from __future__ import annotations

from shedjoin.kernels.candidates import Candidates
from shedjoin.kernels.clock import clock_after, set_clock
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.matching import (
    COUNT_IT,
    EMIT,
    FORESEE,
    FORGET,
    has_room,
    meet,
    meet_instant,
)
from shedjoin.kernels.round import (
    DONE,
    GROW,
    NO_ROOM,
    PROBE,
    RETAIN,
    Arriving,
    Found,
    Row,
    Rules,
    row_at,
)
from shedjoin.kernels.settling import free_left, move_in, settle_victims
from shedjoin.kernels.shedding import (
    AHEAD,
    evict_to_capacity,
    shed_for_last,
    store,
    touch,
)
from shedjoin.kernels.slots import NOBODY, Table, is_there
from shedjoin.types import IntArray

INSTANT_ROWS = 64
"""Arrivals of one instant that are taken together, at most."""
ENTERING, SHEDDING, PROBING, OVER = range(4)
"""Phases of an instant."""


@kernel_no_refcount
def probe_then_insert(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """One arrival at a time: meet the other streams, become a resident, shed."""
    facts, cursor = table.facts[0], out.cursor[0]
    warm = cursor["row"]
    while True:
        why = shed_for_last(rules, arriving, table, candidates, out)
        settle_victims(rules, arriving, table, out)
        free_left(table, out)
        if why != DONE:
            return why
        at = cursor["row"]
        if at == arriving.key.size:
            return DONE
        if at >= warm:
            out.sums[0]["touched"] += touch(at, arriving, table, candidates)
            warm = at + AHEAD
        if facts["first_free"] < 0:
            return GROW
        row = row_at(at, facts["next_number"], arriving)
        does = arriving.does[at]
        hits = 0
        if does & PROBE:
            looks = arriving.looks
            if not has_room(row, rules, looks, table, out, 0):
                return NO_ROOM
            hits = meet(row, row.number, EMIT | COUNT_IT, rules, looks, table, out)
        clock = clock_after(row.time, row.stream, table)
        set_clock(clock, row.stream, rules.window, table)
        if does & RETAIN:
            slot = store(row, rules, arriving, table, candidates, out)
            move_in(slot, at, hits, arriving, table)
        else:
            facts["next_number"] += 1
        cursor["row"] = at + 1


@inline_kernel
def open_instant(first: int, times: IntArray, table: Table) -> int:
    """End of the arrivals of one instant, or of a part of them; 0 without slots."""
    end, last = first, min(first + INSTANT_ROWS, times.size)
    while end < last and times[end] == times[first]:
        end += 1
    free, slot = 0, table.facts[0]["first_free"]
    while slot >= 0 and free < end - first:
        free += 1
        slot = table.residents[slot]["next"]
    return end if free == end - first else 0


@inline_kernel
def enter(
    first: int,
    end: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> None:
    """All arrivals of an instant become residents."""
    facts, cursor = table.facts[0], out.cursor[0]
    for at in range(first, end):
        time, stream = arriving.time[at], arriving.stream[at]
        set_clock(clock_after(time, stream, table), stream, rules.window, table)
    cursor["instant_start"] = facts["next_number"]
    facts["instant"] = arriving.time[first]
    for at in range(first, end):
        out.instant_slots[at - first] = NOBODY
        if arriving.does[at] & RETAIN:
            row = row_at(at, facts["next_number"], arriving)
            hits = 0
            if rules.counts_instant_first:
                looks = arriving.looks
                hits = meet(row, row.number, FORESEE, rules, looks, table, out)
            slot = store(row, rules, arriving, table, candidates, out)
            move_in(slot, at, 0, arriving, table)
            table.details[slot]["foreseen"] = float(hits)
            out.instant_slots[at - first] = slot
        else:
            facts["next_number"] += 1
    cursor["instant_end"] = end
    cursor["instant_row"] = first


@inline_kernel
def forget_foreseen(
    first: int, end: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> None:
    """Matches of an instant count when they happen, now that it is known who left."""
    start = out.cursor[0]["instant_start"]
    for at in range(first, end):
        slot = out.instant_slots[at - first]
        row = row_at(at, start + at - first, arriving)
        if slot >= 0:
            meet(row, row.number, FORGET, rules, arriving.looks, table, out)
            if is_there(slot, row.number, table):
                table.details[slot]["foreseen"] = 0.0


@inline_kernel
def probe_instant(
    row: Row, first: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> bool:
    """Let an arrival meet who is left; False if there is no room for its matches.

    If all probe, it meets all arrivals of its instant, whether they are left or not.
    """
    since, same, looks, began = row.number, 0, arriving.looks, first
    if rules.all_probe:
        # Of an instant that is taken in parts, too: it is in one block as a whole.
        while began > 0 and arriving.time[began - 1] == row.time:
            began -= 1
        since = row.number - (row.at - began)
        same = meet_instant(row, began, 0, rules, arriving, table, out)
    if not has_room(row, rules, looks, table, out, same):
        return False
    hits = meet(row, since, EMIT | COUNT_IT, rules, looks, table, out)
    if rules.all_probe:
        hits += meet_instant(row, began, EMIT, rules, arriving, table, out)
    slot = out.instant_slots[row.at - first]
    if slot >= 0 and is_there(slot, row.number, table):
        table.details[slot]["matches"] += hits
    return True


@inline_kernel
def probe_all(
    first: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> bool:
    """Let the arrivals of an instant probe; False if there is no room for matches."""
    cursor = out.cursor[0]
    while cursor["instant_row"] < cursor["instant_end"]:
        at = cursor["instant_row"]
        slot = out.instant_slots[at - first]
        row = row_at(at, cursor["instant_start"] + at - first, arriving)
        stays = slot >= 0 and is_there(slot, row.number, table)
        probes = arriving.does[at] & PROBE and (stays or rules.all_probe)
        if probes and not probe_instant(row, first, rules, arriving, table, out):
            return False
        cursor["instant_row"] = at + 1
    return True


@kernel_no_refcount
def by_instant(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """All arrivals of an instant become residents, then shed, then meet who is left.

    An arrival that did not stay does not probe, unless ``all_probe``. If ``sheds_last``
    they meet before they shed. With ``counts_instant_first`` it is decided who leaves
    as if all matches of the instant had happened.
    """
    cursor = out.cursor[0]
    while True:
        first = cursor["row"]
        if cursor["phase"] == ENTERING:
            if first == arriving.key.size:
                return DONE
            end = open_instant(first, arriving.time, table)
            if end == 0:
                return GROW
            enter(first, end, rules, arriving, table, candidates, out)
            cursor["phase"] = PROBING if rules.sheds_last else SHEDDING
        if cursor["phase"] == SHEDDING:
            why = evict_to_capacity(rules, arriving, table, candidates, out)
            settle_victims(rules, arriving, table, out)
            free_left(table, out)
            if why != DONE:
                return why
            if rules.counts_instant_first:
                end = cursor["instant_end"]
                forget_foreseen(first, end, rules, arriving, table, out)
            cursor["phase"] = OVER if rules.sheds_last else PROBING
        if cursor["phase"] == PROBING:
            if not probe_all(first, rules, arriving, table, out):
                return NO_ROOM
            cursor["phase"] = SHEDDING if rules.sheds_last else OVER
        if cursor["phase"] == OVER:
            cursor["row"] = cursor["instant_end"]
            cursor["phase"] = ENTERING
