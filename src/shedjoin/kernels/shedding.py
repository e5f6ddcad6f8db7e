"""Decides which rows are stored and which are evicted, and reads ahead for both."""

from __future__ import annotations

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
from shedjoin.kernels.clock import reached_by_all
from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.round import (
    DONE,
    FILL,
    RECOMPUTE,
    REFUSED,
    STORED,
    Arriving,
    Found,
    Row,
    Rules,
    pool_of,
)
from shedjoin.kernels.settling import claim, leave
from shedjoin.kernels.slots import NOBODY, STREAM_BITS, Table, bucket_of

AHEAD = 32
"""Number of arrivals, and of candidates, that are read ahead. These reads do not depend
on each other, so their cache misses overlap. If they were done one by one, they would
take most of the time."""
SLACK_STEPS = 16
"""The slack of a sample grows in steps of the window divided by this number."""


@inline_kernel
def touch_candidates(table: Table, candidates: Candidates) -> float:
    """Read ahead what the eviction of the next candidates will need."""
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
def touch_queue(table: Table, candidates: Candidates) -> float:
    """Read ahead the numbers and sizes of the next rows in the queues."""
    total = 0.0
    for pool in range(candidates.pools.size):
        facts = candidates.pools[pool]
        start, end = facts["queue_next"], facts["queue_end"]
        for place in range(start, min(start + AHEAD, end)):
            slot = candidates.queue[pool, place]["slot"]
            total += table.number[slot] + table.meta[slot]
    return total


@inline_kernel
def touch(
    first: int, arriving: Arriving, table: Table, candidates: Candidates
) -> float:
    """Read ahead what the next arrivals need to probe, and what evictions need."""
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
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> int:
    """Give an arrival a slot and make it a candidate; return the slot."""
    pool, facts, score = pool_of(row.stream, rules), table.facts[0], arriving.score
    slot = claim(row, pool, arriving, table, out)
    out.tally[STORED, row.stream] += 1
    if rules.maturity < 0 or row.time - facts["clock"] > rules.window:
        # Rows mature in order. A row from the future would hold back all later rows.
        offer(slot, row.number, score[row.at], rules.tie, pool, candidates)
    else:
        defer(slot, row.number, row.time, pool, candidates)
    expiry = arriving.expiry[row.at]
    if expiry + out.lags[0]["slack"] < facts["fill_at"]:
        expect(slot, row.number, expiry, pool, candidates)
    return slot


@inline_kernel
def raise_bar(score: float, pool: int, table: Table, out: Found) -> None:
    """Note the score of a row that is evicted: weights of a sample follow from it."""
    at = table.facts[0]["next_number"] - out.cursor[0]["block_start"]
    out.raised[pool, at] = max(out.raised[pool, at], score)


@inline_kernel
def over_before(clock: int, rules: Rules, table: Table, out: Found) -> int:
    """Present time by which it is decided whether the time of a row is over.

    Rows whose time is over are evicted before all others. As a rule, the present time
    is the clock. In a join through a relation, two rows may be related for less time
    than the lead of the clock. So the time that all streams have reached is used
    instead. A sample with a slack uses the time that all streams have reached, minus
    the slack.
    """
    slack = out.lags[0]["slack"]
    if rules.related or slack > 0:
        return int(reached_by_all(table) - slack)
    return clock


@inline_kernel
def note_lag(row: Row, clock: int, rules: Rules, table: Table, out: Found) -> None:
    """Increase the slack of a sample so that it covers an arrival behind the clock.

    The slack grows in steps of a part of the window, so it seldom changes. The arrival
    is marked as doubtful if residents that it could have matched may have been evicted
    only because their time was over.
    """
    if rules.weighs:
        lags, step = out.lags[0], max(1, rules.window // SLACK_STEPS)
        out.doubtful[row.at] = row.time < lags["forgotten"]
        behind = over_before(clock, rules, table, out) - row.time
        if behind > 0:
            lags["slack"] += -(-behind // step) * step


@inline_kernel
def evict_to_capacity(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """Evict rows until every pool is within its capacity; return why the loop stopped.

    The victims are settled later. A victim with the number ``instant_start`` or a
    greater one counts as refused. In a sample, a row whose time has been over for less
    than the slack is evicted by its score, as other rows are. It may still have
    matches, and their weights follow from the scores of evicted rows.
    """
    facts, lags = table.facts[0], out.lags[0]
    clock = facts["clock"]
    now = over_before(clock, rules, table, out)
    for pool in range(len(rules.capacity)):
        while table.streams[pool]["used"] > rules.capacity[pool]:
            if facts["sheds_left"] <= 0:
                return RECOMPUTE
            if rules.maturity >= 0:
                mature(clock - rules.maturity, rules.tie, pool, table, candidates)
            if clock >= facts["fill_at"] or candidates.pools[pool]["overfull"]:
                return FILL
            slot = next_expired(now, pool, table, candidates)
            over = int(slot != NOBODY)
            if not over:
                slot = next_to_leave(rules.tie, pool, table, candidates)
                if slot == NOBODY:
                    return FILL
                if rules.weighs:
                    raise_bar(table.score[slot], pool, table, out)
            elif rules.weighs:
                lags["forgotten"] = max(lags["forgotten"], now)
            leave(slot, pool, over, arriving, table, out)
    return DONE


@inline_kernel
def shed_for_last(
    rules: Rules, arriving: Arriving, table: Table, candidates: Candidates, out: Found
) -> int:
    """Evict rows if the last arrival exceeds the capacity; return why the loop stopped.

    If the last arrival itself is evicted, it counts as refused.
    """
    for pool in range(len(rules.capacity)):
        if table.streams[pool]["used"] > rules.capacity[pool]:
            out.cursor[0]["instant_start"] = table.facts[0]["next_number"] - 1
            return evict_to_capacity(rules, arriving, table, candidates, out)
    return DONE


@inline_kernel
def is_hopeless(
    row: Row,
    clock: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    candidates: Candidates,
    out: Found,
) -> bool:
    """Whether an arrival would be evicted at once if it were stored."""
    facts, pool = table.facts[0], pool_of(row.stream, rules)
    now = over_before(clock, rules, table, out)
    used = table.streams[pool]["used"] + arriving.size[row.at]
    if used <= rules.capacity[pool] or rules.maturity >= 0:
        return False
    if arriving.expiry[row.at] < now:
        return False  # its time is over, so its eviction raises no bar
    if facts["sheds_left"] <= 0 or clock >= facts["fill_at"]:
        return False
    if candidates.pools[pool]["overfull"] or has_expired(now, pool, candidates):
        return False
    score = arriving.score[row.at]
    return would_be_next(score, row.number, rules.tie, pool, candidates)


@inline_kernel
def refuse(
    row: Row, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> None:
    """Count an arrival as stored and evicted at once, without giving it a slot."""
    facts = table.facts[0]
    out.tally[STORED, row.stream] += 1
    out.tally[REFUSED, row.stream] += 1
    if out.evicted_by_row.size:
        out.evicted_by_row[row.number - out.cursor[0]["block_start"]] = row.number
    facts["sheds_left"] -= 1
    facts["next_number"] += 1
    if rules.weighs:
        raise_bar(arriving.score[row.at], pool_of(row.stream, rules), table, out)
