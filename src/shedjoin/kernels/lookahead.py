"""Matches of many arrivals at once, where matches do not decide who is shed.

Scores that do not depend on matches say who leaves and when without any probing. So a
run of arrivals first looks up all residents it could meet, with the chains of many
arrivals walked side by side; then it is decided who is stored and who is shed; and at
last those encounters are taken out whose resident had left before the arrival came.
Within the run, arrivals meet through a small index of those that stayed at least a
moment.
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
        ("lost", "i4"),  # its coin: then it is no match, but the arrival met a row
        ("place", "i8"),
        ("number", "i8"),
        ("slot", "i8"),  # of the resident
    ]
)
"""What may be a match. The number and the coin are those of a sample, otherwise they
are not set."""


class Encounters(NamedTuple):
    """What may be matches, their worth, and room to work in."""

    entries: Records
    worth: FloatArray
    marks: Records
    walker: IntArray
    at: IntArray


class SmallIndex(NamedTuple):
    """Arrivals of a run: heads by bucket and stream, and the next one of each."""

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
    """Write down what a sample, or importance, asks of an encounter."""
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
    """Look some arrivals up among the residents of another stream, side by side.

    Returns how many encounters there are now, or -1 if they do not fit. An encounter is
    written before it is known to be one: nobody can guess where the branch would go.
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
    """Find the residents that arrivals from ``start`` on could meet.

    Returns the number of encounters and the arrival to go on from: those whose
    encounters do not fit any more are left for the next time.
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
    """Decide, arrival by arrival, who is stored and who leaves."""
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
    """Store and shed, arrival by arrival up to ``end``; who leaves when is noted."""
    why = decide_until(end, rules, arriving, table, candidates, out)
    settle(rules, arriving, table, out)
    return why


@kernel_no_refcount
def still_there(
    count: int, rules: Rules, arriving: Arriving, encounters: Encounters, out: Found
) -> None:
    """Take those encounters as matches whose resident was there when they met."""
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
    """Match an arrival with earlier ones of a run, which stand in one chain.

    Returns how many it met, if coins decide which of them are matches; -1 if the
    matches do not fit.
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
    """Tell what the matches from ``first`` on are worth."""
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
    """Match arrivals of a run, from ``start`` on, with each other.

    Returns the arrival to go on from: before it, all matches are found.
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
