"""Who is stored and who leaves, step by step, and reading ahead for both."""

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
"""Arrivals, and candidates, that are read ahead: the reads do not depend on each other,
so their cache misses overlap; one by one they would be most of the work."""
SLACK_STEPS = 16
"""Parts of the window in which the slack of a sample grows."""


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
def touch_queue(table: Table, candidates: Candidates) -> float:
    """Read what it takes to decide that the next in the queues leave."""
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
        # A row from the future would never mature, nor would those behind it.
        offer(slot, row.number, score[row.at], rules.tie, pool, candidates)
    else:
        defer(slot, row.number, row.time, pool, candidates)
    expiry = arriving.expiry[row.at]
    if expiry + out.lags[0]["slack"] < facts["fill_at"]:
        expect(slot, row.number, expiry, pool, candidates)
    return slot


@inline_kernel
def raise_bar(score: float, pool: int, table: Table, out: Found) -> None:
    """Note the score of who has to leave: of a sample, the inclusion follows it."""
    at = table.facts[0]["next_number"] - out.cursor[0]["block_start"]
    out.raised[pool, at] = max(out.raised[pool, at], score)


@inline_kernel
def over_before(clock: int, rules: Rules, table: Table, out: Found) -> int:
    """Tell the time before which rows expired, so that they leave before all others.

    Where a relation says until when rows are related, that may be far less than the
    lead of the clock: what all streams have reached tells whose time is over. So it is
    in a sample with a slack, which counts from there.
    """
    slack = out.lags[0]["slack"]
    if rules.related or slack > 0:
        return int(reached_by_all(table) - slack)
    return clock


@inline_kernel
def note_lag(row: Row, clock: int, rules: Rules, table: Table, out: Found) -> None:
    """Have the slack of a sample cover an arrival that is behind the clock.

    It grows by a whole part of the window, so that it does so seldom. The arrival is in
    doubt if residents that it could have matched were shed for their time alone.
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
    """Shed until every pool is within its capacity; the rest is for settling.

    A resident with a number from ``instant_start`` on counts as refused. In a sample,
    a row whose time is over by less than the slack leaves by its score, as others do:
    it may still have matches, and their weights follow from the scores that left.
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
    """Shed if the last arrival was one too many; it counts as refused if it goes."""
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
    """Whether an arrival would be stored only to be the next to leave."""
    facts, pool = table.facts[0], pool_of(row.stream, rules)
    now = over_before(clock, rules, table, out)
    used = table.streams[pool]["used"] + arriving.size[row.at]
    if used <= rules.capacity[pool] or rules.maturity >= 0:
        return False
    if arriving.expiry[row.at] < now:
        return False  # it leaves because its time is over, and raises no bar
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
