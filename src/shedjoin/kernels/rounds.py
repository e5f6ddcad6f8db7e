"""Processes arrivals one after the other: probe, store, evict.

The kernel continues from its cursor until all arrivals are done or Python is needed,
and returns why it stopped. It leaves the table in a state from which the next call can
continue.
"""

from __future__ import annotations

from shedjoin.kernels.candidates import Candidates
from shedjoin.kernels.clock import clock_after, set_clock
from shedjoin.kernels.jit import kernel_no_refcount
from shedjoin.kernels.matching import COUNT_IT, EMIT, has_room, meet
from shedjoin.kernels.round import (
    DONE,
    GROW,
    NO_ROOM,
    PROBE,
    RETAIN,
    Arriving,
    Found,
    Rules,
    row_at,
)
from shedjoin.kernels.settling import free_left, move_in, settle_victims
from shedjoin.kernels.shedding import AHEAD, note_lag, shed_for_last, store, touch
from shedjoin.kernels.slots import Table


@kernel_no_refcount
def probe_then_insert(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """For each arrival: match it with the other streams, store it, and evict rows."""
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
        note_lag(row, clock, rules, table, out)
        set_clock(clock, row.stream, rules.window, table)
        if does & RETAIN:
            slot = store(row, rules, arriving, table, candidates, out)
            move_in(slot, at, hits, arriving, table)
        else:
            facts["next_number"] += 1
        cursor["row"] = at + 1
