"""Finds matches of many arrivals at once, if evictions do not depend on matches.

If scores do not depend on matches, evictions can be decided without any probe. So a
*run* of arrivals is processed in three steps. First, all its arrivals look up the
residents that they could match. The chains of many arrivals are walked side by side.
Then it is decided which arrivals are stored, and which rows are evicted. Last, an
*encounter* of an arrival with a resident is dropped if the resident had been evicted
before the arrival came. Matches between two arrivals of the run are found by a small
index. It holds all arrivals of the run that were stored, even if only for a moment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.candidates import Candidates
from shedjoin.kernels.clock import clock_after, set_clock
from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.matching import coin, wins, worth
from shedjoin.kernels.round import (
    DONE,
    GROW,
    MET,
    PROBE,
    RETAIN,
    Arriving,
    Found,
    Rules,
    put_match,
    row_at,
)
from shedjoin.kernels.settling import settle
from shedjoin.kernels.shedding import (
    AHEAD,
    is_hopeless,
    note_lag,
    refuse,
    shed_for_last,
    store,
    touch_queue,
)
from shedjoin.kernels.slots import Table, bucket_of
from shedjoin.types import FloatArray, IntArray, LinkArray, LinkGrid, Records

SIDE_BY_SIDE = 128
ENCOUNTER = np.dtype(
    [
        ("row", "i4"),
        ("lost", "i4"),  # 1 if its coin loses: it is counted, but it is no match
        ("place", "i8"),
        ("number", "i8"),
        ("slot", "i8"),  # of the resident
    ]
)
"""A possible match: the fields of a match, and the slot of the resident. The number and
the coin are set only in a sample."""


class Encounters(NamedTuple):
    """Possible matches, their importance, and arrays to work in."""

    entries: Records
    worth: FloatArray
    marks: Records
    walker: IntArray
    at: IntArray


class SmallIndex(NamedTuple):
    """Index of a run: chain heads by bucket and stream, and next arrivals in chains."""

    heads: LinkGrid
    after: LinkArray


@inline_kernel
def note_more(
    row: int,
    slot: int,
    found: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    into: Encounters,
) -> None:
    """Add to an encounter what a sample or the importance of results needs."""
    details = table.details[slot]
    if rules.weighs:
        into.entries[found]["number"] = table.number[slot]
        into.marks[found]["score"] = table.score[slot]
        into.marks[found]["chance"] = details["chance"]
    if rules.valued:
        mine, theirs = arriving.importance[row], details["importance"]
        into.worth[found] = worth(mine, theirs, rules.combine)
    if rules.thins:
        number = arriving.first_number + row
        into.entries[found]["lost"] = not wins(slot, number, rules, table)


@inline_kernel
def walk(
    block: tuple[int, int],
    other: int,
    found: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    into: Encounters,
) -> int:
    """Look up some arrivals among the residents of another stream, side by side.

    Returns the number of encounters so far, or -1 if they do not fit. Each visited
    resident is written down first, and counted as an encounter only if it matches. To
    write only matches would be slower: the processor could not predict the branch.
    """
    facts, room, more = table.facts[0], into.worth.size, rules.weighs | rules.valued
    walking, steps = 0, 0
    for row in range(block[0], block[1]):
        if arriving.stream[row] == other or not arriving.does[row] & PROBE:
            continue
        slot = table.heads[bucket_of(arriving.key[row], other, table)]
        into.walker[walking] = row
        into.at[walking] = slot
        walking += slot >= 0
    while walking > 0:
        if walking > room - found:
            return -1
        left = 0
        for place in range(walking):
            row, slot = into.walker[place], into.at[place]
            resident, time = table.residents[slot], arriving.time[row]
            low = time - rules.keep[other]
            high = time + rules.keep[arriving.stream[row]]
            same = (resident["key"] == arriving.key[row]) & (
                (low <= resident["time"]) & (resident["time"] <= high)
            )
            entry = into.entries[found]
            entry["row"] = row
            entry["place"] = resident["place"]
            entry["slot"] = slot
            if more and same:
                note_more(row, slot, found, rules, arriving, table, into)
            found += same
            into.walker[left] = row
            into.at[left] = resident["next"]
            left += into.at[left] >= 0
        walking = left
        steps += 1
    facts["longest_chain"] = max(facts["longest_chain"], steps)
    return found


@kernel_no_refcount
def look_up(
    start: int, rules: Rules, arriving: Arriving, table: Table, into: Encounters
) -> tuple[int, int]:
    """Find the residents that arrivals from ``start`` on could match.

    Returns the number of encounters, and the arrival from which to continue. Arrivals
    whose encounters do not fit are left for the next call.
    """
    found, first, rows = 0, start, SIDE_BY_SIDE
    while first < arriving.key.size:
        end = min(first + rows, arriving.key.size)
        before = found
        for other in range(len(rules.keep)):
            if found >= 0:
                block = first, end
                found = walk(block, other, found, rules, arriving, table, into)
        if found >= 0:
            first = end
        elif rows > 1:
            found, rows = before, 1
        else:
            return before, first
    return found, int(arriving.key.size)


@inline_kernel
def decide_until(
    end: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> int:
    """Decide, arrival by arrival, which rows are stored and which are evicted."""
    facts, cursor = table.facts[0], out.cursor[0]
    warm = cursor["row"]
    while True:
        why = shed_for_last(rules, arriving, table, candidates, out)
        if why != DONE:
            return why
        at = cursor["row"]
        if at == end:
            return DONE
        if at >= warm:
            out.sums[0]["touched"] += touch_queue(table, candidates)
            warm = at + AHEAD
        row = row_at(at, facts["next_number"], arriving)
        clock = clock_after(row.time, row.stream, table)
        note_lag(row, clock, rules, table, out)
        stays = False
        if arriving.does[at] & RETAIN:
            if is_hopeless(row, clock, rules, arriving, table, candidates, out):
                refuse(row, rules, arriving, table, out)
            elif facts["count"] == table.meta.size:
                return GROW
            else:
                stays = True
        else:
            facts["next_number"] += 1
        set_clock(clock, row.stream, rules.window, table)
        if stays:
            slot = store(row, rules, arriving, table, candidates, out)
            out.slot_by_row[at] = slot
        cursor["row"] = at + 1


@kernel_no_refcount
def insert_until(
    end: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> int:
    """Store and evict rows, arrival by arrival up to ``end``, and settle them.

    For each evicted row, the arrival at which this happened is recorded.
    """
    why = decide_until(end, rules, arriving, table, candidates, out)
    settle(rules, arriving, table, out)
    return why


@kernel_no_refcount
def still_there(
    count: int, rules: Rules, arriving: Arriving, encounters: Encounters, out: Found
) -> None:
    """Turn encounters into matches if the resident was there when the arrival came."""
    cursor, total = out.cursor[0], out.sums[0]["gained"]
    end, run, zero = cursor["row"], cursor["run_start"], cursor["block_start"]
    for each in range(count):
        entry = encounters.entries[each]
        row = np.int64(entry["row"])
        won = not (rules.thins and entry["lost"])
        evicted = out.evicted_by_slot[entry["slot"]]
        if row >= end or run <= evicted < zero + row:
            continue
        if rules.thins:
            out.tally[MET, arriving.stream[row]] += 1
        if won:
            value = encounters.worth[each] if rules.valued else 1.0
            found = put_match(row, entry["place"], entry["number"], value, out)
            if rules.weighs:
                out.marks[found]["score"] = encounters.marks[each]["score"]
                out.marks[found]["chance"] = encounters.marks[each]["chance"]
            total += value
    out.sums[0]["gained"] = total


@inline_kernel
def meet_in_chain(
    row: int,
    head: int,
    rules: Rules,
    arriving: Arriving,
    after: LinkArray,
    table: Table,
    out: Found,
) -> int:
    """Match an arrival with the earlier arrivals of its run that are in one chain.

    Returns -1 if the matches do not fit. If coins decide which matches are emitted, the
    number of matches before this decision is returned; otherwise 0.
    """
    cursor, facts = out.cursor[0], table.facts[0]
    zero = cursor["block_start"]
    key, time, other = arriving.key[row], arriving.time[row], head
    steps, met = 0, 0
    while other >= 0:
        steps += 1
        low = time - rules.keep[arriving.stream[other]]
        high = time + rules.keep[arriving.stream[row]]
        same = arriving.key[other] == key and low <= arriving.time[other] <= high
        same = same and out.evicted_by_row[other] >= zero + row
        if same and rules.thins:
            met += 1
            toss = coin(rules.seed, key, np.int64(zero + other), ~(zero + row))
            same = toss < arriving.chance[other]
        if same:
            if cursor["found"] == out.matches.size:
                return -1
            value = 1.0
            if rules.valued:
                mine, theirs = arriving.importance[row], arriving.importance[other]
                value = worth(mine, theirs, rules.combine)
            place = arriving.place[other]
            found = put_match(row, place, zero + other, value, out)
            if rules.weighs:
                out.marks[found]["score"] = arriving.score[other]
                out.marks[found]["chance"] = arriving.chance[other]
        other = after[other]
    facts["longest_chain"] = max(facts["longest_chain"], steps)
    return met


@inline_kernel
def gained(first: int, out: Found) -> float:
    """Sum of the importances of all matches from ``first`` on."""
    total = 0.0
    for each in range(first, out.cursor[0]["found"]):
        total += out.matches[each]["worth"]
    return total


@kernel_no_refcount
def meet_each_other(
    start: int,
    rules: Rules,
    arriving: Arriving,
    index: SmallIndex,
    table: Table,
    out: Found,
) -> int:
    """Match the arrivals of a run, from ``start`` on, with each other.

    Returns the arrival from which to continue. All matches of earlier arrivals have
    been found.
    """
    cursor, zero = out.cursor[0], out.cursor[0]["block_start"]
    seed, mask = table.facts[0]["bucket_seed"], index.heads.shape[0] - 1
    for row in range(start, cursor["row"]):
        stream, does = arriving.stream[row], arriving.does[row]
        bucket = mixed(arriving.key[row] ^ seed) & mask
        before, total = cursor["found"], 0
        for other in range(len(rules.keep)):
            if other != stream and does & PROBE:
                head = index.heads[bucket, other]
                met = meet_in_chain(row, head, rules, arriving, index.after, table, out)
                if met < 0:
                    cursor["found"] = before
                    return row
                total += met
        out.tally[MET, stream] += total
        out.sums[0]["gained"] += gained(before, out)
        if out.evicted_by_row[row] > zero + row and does & RETAIN:
            index.after[row] = index.heads[bucket, stream]
            index.heads[bucket, stream] = row
    return int(cursor["row"])
