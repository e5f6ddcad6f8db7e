"""Joins the arrivals of one instant together: stores, evicts and probes.

The kernels differ in the order of these steps. A kernel continues from its cursor until
all arrivals are done or Python is needed, and returns why it stopped. It leaves the
table in a state from which the next call can continue.
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
)
from shedjoin.kernels.peers import meet_instant
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
from shedjoin.kernels.shedding import evict_to_capacity, store
from shedjoin.kernels.slots import NOBODY, Table, is_there
from shedjoin.types import IntArray

INSTANT_ROWS = 64
"""At most this many arrivals of one instant are stored before rows are evicted."""


@inline_kernel
def open_instant(first: int, times: IntArray, table: Table) -> int:
    """End of the arrivals of one instant, at most ``INSTANT_ROWS`` of them.

    The result is 0 if there are fewer free slots than arrivals.
    """
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
    """Store all arrivals of an instant that are to be stored."""
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
            move_in(slot, at, out.hits[at], arriving, table)
            table.details[slot]["foreseen"] = float(hits)
            out.instant_slots[at - first] = slot
        else:
            facts["next_number"] += 1
    cursor["instant_end"] = end
    cursor["instant_row"] = first


@inline_kernel
def make_room(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """Evict rows until every pool is within its capacity, and settle them."""
    why = evict_to_capacity(rules, arriving, table, candidates, out)
    settle_victims(rules, arriving, table, out)
    free_left(table, out)
    return why


@inline_kernel
def forget_foreseen(
    first: int, end: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> None:
    """Take back the matches of an instant that were counted in advance.

    It is now known which rows were evicted. Matches are counted again when they happen.
    """
    start = out.cursor[0]["instant_start"]
    for at in range(first, end):
        slot = out.instant_slots[at - first]
        row = row_at(at, start + at - first, arriving)
        if slot >= 0:
            meet(row, row.number, FORGET, rules, arriving.looks, table, out)
            if is_there(slot, row.number, table):
                table.details[slot]["foreseen"] = 0.0


@inline_kernel
def probe_left(
    row: Row, first: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> bool:
    """Match an arrival with the rows that are left; False if the matches do not fit.

    With ``all_probe``, earlier arrivals of its instant match even if they were evicted.
    """
    since, same, looks = row.number, 0, arriving.looks
    if rules.all_probe:
        since = row.number - (row.at - arriving.peers.first[row.at])
        same = meet_instant(row, 0, rules, arriving, table, out)
    if not has_room(row, rules, looks, table, out, same):
        return False
    hits = meet(row, since, EMIT | COUNT_IT, rules, looks, table, out)
    if rules.all_probe:
        hits += meet_instant(row, EMIT, rules, arriving, table, out)
    slot = out.instant_slots[row.at - first]
    if slot >= 0 and is_there(slot, row.number, table):
        table.details[slot]["matches"] += hits
    return True


@kernel_no_refcount
def shed_then_join(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """For each instant: store its arrivals, evict rows, match arrivals still stored.

    An arrival that was evicted is not matched, except with ``all_probe``. With
    ``counts_instant_first``, rows are evicted as if all matches of the instant had
    happened.
    """
    cursor = out.cursor[0]
    while True:
        first = cursor["row"]
        if cursor["phase"] == 0:
            if first == arriving.key.size:
                return DONE
            end = open_instant(first, arriving.time, table)
            if end == 0:
                return GROW
            enter(first, end, rules, arriving, table, candidates, out)
            cursor["phase"] = 1
        if cursor["phase"] == 1:
            why = make_room(rules, arriving, table, candidates, out)
            if why != DONE:
                return why
            if rules.counts_instant_first:
                end = cursor["instant_end"]
                forget_foreseen(first, end, rules, arriving, table, out)
            cursor["phase"] = 2
        while cursor["instant_row"] < cursor["instant_end"]:
            at = cursor["instant_row"]
            slot = out.instant_slots[at - first]
            row = row_at(at, cursor["instant_start"] + at - first, arriving)
            stays = slot >= 0 and is_there(slot, row.number, table)
            probes = arriving.does[at] & PROBE and (stays or rules.all_probe)
            if probes and not probe_left(row, first, rules, arriving, table, out):
                return NO_ROOM
            cursor["instant_row"] = at + 1
        cursor["row"] = cursor["instant_end"]
        cursor["phase"] = 0


@inline_kernel
def probe_whole(
    end: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> bool:
    """Match an instant with residents and itself; False if the matches do not fit.

    None of the arrivals of the instant is a resident yet.
    """
    cursor, looks = out.cursor[0], arriving.looks
    start = table.facts[0]["next_number"] - cursor["row"]
    while cursor["instant_row"] < end:
        at = cursor["instant_row"]
        if arriving.does[at] & PROBE:
            row = row_at(at, start + at, arriving)
            same = meet_instant(row, 0, rules, arriving, table, out)
            if not has_room(row, rules, looks, table, out, same):
                return False
            hits = meet(row, row.number, EMIT | COUNT_IT, rules, looks, table, out)
            hits += meet_instant(row, EMIT, rules, arriving, table, out)
            out.hits[at] += hits
        cursor["instant_row"] = at + 1
    return True


@kernel_no_refcount
def probe_then_shed(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """For each instant: match all its arrivals, then store them and evict rows.

    Arrivals are matched with residents and with each other. They are stored in parts,
    because the table may not have room for all of them.
    """
    cursor = out.cursor[0]
    while True:
        first = cursor["row"]
        if first == arriving.key.size:
            return DONE
        if cursor["phase"] == 0:
            if first == arriving.peers.first[first]:
                cursor["instant_row"] = max(cursor["instant_row"], first)
                end = arriving.peers.end[first]
                if not probe_whole(end, rules, arriving, table, out):
                    return NO_ROOM
            end = open_instant(first, arriving.time, table)
            if end == 0:
                return GROW
            enter(first, end, rules, arriving, table, candidates, out)
            cursor["phase"] = 1
        why = make_room(rules, arriving, table, candidates, out)
        if why != DONE:
            return why
        cursor["row"] = cursor["instant_end"]
        cursor["phase"] = 0
