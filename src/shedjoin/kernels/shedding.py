"""Who is stored and who leaves, step by step, and reading ahead for both."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.candidates import (
    Candidates,
    defer,
    expect,
    has_expired,
    mature,
    next_expired,
    next_to_leave,
    offer,
    would_be_next,
)
from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.round import (
    DONE,
    EVICTED,
    FILL,
    OUTLIVED,
    RECOMPUTE,
    REFUSED,
    STORED,
    Arriving,
    Found,
    Row,
    Rules,
    count_life,
    pool_of,
)
from shedjoin.kernels.slots import (
    NOBODY,
    STREAM_BITS,
    Newcomer,
    Table,
    bucket_of,
    occupy,
    vacate,
)

AHEAD = 32
"""Arrivals, and candidates, that are read ahead: the reads do not depend on each other,
so their cache misses overlap; one by one they would be most of the work."""


@inline_kernel
def touch_candidates(table: Table, candidates: Candidates) -> float:
    """Read what the next to leave will need."""
    total = 0.0
    for pool in range(candidates.pools.size):
        facts = candidates.pools[pool]
        start, end = facts["queue_next"], facts["queue_end"]
        for place in range(start, min(start + AHEAD, end)):
            slot = candidates.queue[pool, place]["slot"]
            stream = table.meta[slot] & STREAM_BITS
            total += table.heads[bucket_of(table.residents[slot]["key"], stream, table)]
    return total


@inline_kernel
def touch_newcomers(
    first: int, end: int, arriving: Arriving, table: Table, candidates: Candidates
) -> float:
    """Read what the next arrivals will need, if they are likely to be stored."""
    low = -np.inf
    facts = candidates.pools[0]
    if facts["queue_next"] < facts["queue_end"]:
        low = candidates.queue[0, facts["queue_next"]]["score"]
    total = 0.0
    for row in range(first, min(first + AHEAD, end)):
        if arriving.score[row] >= low:
            bucket = bucket_of(arriving.key[row], arriving.stream[row], table)
            head = table.heads[bucket]
            if head >= 0:
                total += table.residents[head]["key"]
    return total


@inline_kernel
def touch(
    first: int, arriving: Arriving, table: Table, candidates: Candidates
) -> float:
    """Read what the next arrivals will need to probe, and the next to leave."""
    total = 0.0
    for row in range(first, min(first + AHEAD, arriving.key.size)):
        for stream in range(table.streams.size):
            head = table.heads[bucket_of(arriving.key[row], stream, table)]
            if head >= 0:
                total += table.residents[head]["key"] + table.details[head]["matches"]
    return total + touch_candidates(table, candidates)


@inline_kernel
def store(
    row: Row,
    hits: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> int:
    """Make an arrival a resident and a candidate; return its slot."""
    at, pool, facts = row.at, pool_of(row.stream, rules), table.facts[0]
    newcomer = Newcomer(row.key, row.time, row.stream, arriving.size[at])
    slot = occupy(newcomer, pool, table)
    table.score[slot] = arriving.score[at]
    details = table.details[slot]
    details["place"] = arriving.place[at]
    details["matches"] = float(hits)
    details["last_match"] = row.time
    details["foreseen"] = 0.0
    details["importance"] = row.importance
    details["chance"] = arriving.chance[at]
    details["coins"] = arriving.coins[at]
    out.tally[STORED, row.stream] += 1
    if rules.maturity < 0 or row.time - facts["clock"] > rules.window:
        # A row from the future would never mature, nor would those behind it.
        offer(slot, row.number, arriving.score[at], rules.tie, pool, candidates)
    else:
        defer(slot, row.number, row.time, pool, candidates)
    expiry = row.time + rules.keep[row.stream]
    if expiry < facts["fill_at"]:
        expect(slot, row.number, expiry, pool, candidates)
    return slot


@inline_kernel
def note_evicted(slot: int, table: Table, out: Found) -> None:
    """Note by which arrival a resident had to leave, if anybody asks."""
    if out.evicted_by_slot.size:
        cursor, number = out.cursor[0], table.residents[slot]["number"]
        newest = table.facts[0]["next_number"] - 1
        if number >= cursor["run_start"]:
            out.evicted_by_row[number - cursor["block_start"]] = newest
        elif out.evicted_by_slot[slot] < cursor["run_start"]:
            out.evicted_by_slot[slot] = newest


@inline_kernel
def raise_bar(score: float, pool: int, table: Table, out: Found) -> None:
    """Note the score of who has to leave: of a sample, the inclusion follows it."""
    at = table.facts[0]["next_number"] - out.cursor[0]["block_start"]
    out.raised[pool, at] = max(out.raised[pool, at], score)


@inline_kernel
def evict(slot: int, pool: int, rules: Rules, table: Table, out: Found) -> None:
    """Let a resident go because the budget is used up."""
    facts, resident = table.facts[0], table.residents[slot]
    stream = table.meta[slot] & STREAM_BITS
    stayed = max(0, facts["clock"] - resident["time"])
    if resident["number"] >= out.cursor[0]["instant_start"]:
        out.tally[REFUSED, stream] += 1
        stayed = 0
    elif stayed > rules.keep[stream]:
        out.tally[OUTLIVED, stream] += 1
        stayed = rules.keep[stream]
    else:
        out.tally[EVICTED, stream] += 1
    count_life(stayed, out)
    note_evicted(slot, table, out)
    vacate(slot, pool, table)
    facts["sheds_left"] -= 1


@inline_kernel
def evict_to_capacity(
    rules: Rules, table: Table, candidates: Candidates, out: Found
) -> int:
    """Shed until every pool is within its capacity.

    A resident with a number from ``instant_start`` on counts as refused.
    """
    facts = table.facts[0]
    clock = facts["clock"]
    for pool in range(len(rules.capacity)):
        while table.streams[pool]["used"] > rules.capacity[pool]:
            if facts["sheds_left"] <= 0:
                return RECOMPUTE
            if rules.maturity >= 0:
                mature(clock - rules.maturity, rules.tie, pool, table, candidates)
            if clock >= facts["fill_at"] or candidates.pools[pool]["overfull"]:
                return FILL
            slot = next_expired(clock, pool, table, candidates)
            if slot == NOBODY:
                slot = next_to_leave(rules.tie, pool, table, candidates)
                if slot == NOBODY:
                    return FILL
                if rules.weighs:
                    raise_bar(table.score[slot], pool, table, out)
            evict(slot, pool, rules, table, out)
    return DONE


@inline_kernel
def shed_for_last(
    rules: Rules, table: Table, candidates: Candidates, out: Found
) -> int:
    """Shed if the last arrival was one too many; it counts as refused if it goes."""
    for pool in range(len(rules.capacity)):
        if table.streams[pool]["used"] > rules.capacity[pool]:
            out.cursor[0]["instant_start"] = table.facts[0]["next_number"] - 1
            return evict_to_capacity(rules, table, candidates, out)
    return DONE


@inline_kernel
def is_hopeless(
    row: Row,
    clock: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
) -> bool:
    """Whether an arrival would be stored only to be the next to leave."""
    facts, pool = table.facts[0], pool_of(row.stream, rules)
    used = table.streams[pool]["used"] + arriving.size[row.at]
    if used <= rules.capacity[pool] or rules.maturity >= 0:
        return False
    if row.time + rules.keep[row.stream] < clock:
        return False  # it leaves because its time is over, and raises no bar
    if facts["sheds_left"] <= 0 or clock >= facts["fill_at"]:
        return False
    if candidates.pools[pool]["overfull"] or has_expired(clock, pool, candidates):
        return False
    score = arriving.score[row.at]
    return would_be_next(score, row.number, rules.tie, pool, candidates)


@inline_kernel
def refuse(
    row: Row, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> None:
    """Count an arrival as stored and shed at once."""
    facts = table.facts[0]
    out.tally[STORED, row.stream] += 1
    out.tally[REFUSED, row.stream] += 1
    if out.evicted_by_row.size:
        out.evicted_by_row[row.number - out.cursor[0]["block_start"]] = row.number
    facts["sheds_left"] -= 1
    facts["next_number"] += 1
    if rules.weighs:
        raise_bar(arriving.score[row.at], pool_of(row.stream, rules), table, out)
