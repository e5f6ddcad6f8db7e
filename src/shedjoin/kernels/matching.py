"""Matches of one arrival, their importance, and coins that decide which are emitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.round import (
    MET,
    SPENT,
    Found,
    Looks,
    Row,
    Rules,
    count_life,
    pool_of,
    put_match,
)
from shedjoin.kernels.slots import (
    DIRTY_BIT,
    STREAM_BITS,
    Table,
    bucket_of,
    note_match,
    vacate,
)

MIN, MAX, SUM, PRODUCT, MEAN = range(5)
"""How the importances of two matching rows are combined."""

EMIT, COUNT_IT, FORESEE, FORGET = 1, 2, 4, 8
"""What is done with a match, as bits: emit the match; count it for the resident; count
it in advance, as a match that happens unless a row is evicted before; or take back what
was counted in advance."""
COINS_SHIFT = 32
COINS_LEFT = (1 << COINS_SHIFT) - 1
"""The coins of a resident are one integer. Its low bits are the number of coins left,
which is also the number of the next coin: coins are used in descending order, down to
1. Its high bits are the number of the last coin that wins."""


@inline_kernel
def coin(seed: int, key: np.int64, number: np.int64, other: int) -> float:
    """Toss a coin for a resident and another number; equal arguments give equal coins.

    The result is a hash in [0, 1). The key is part of the hash, because different
    shards use the same arrival numbers.
    """
    bits = mixed(mixed(mixed(key + seed) + number) ^ other)
    return float((bits >> 11) & 0x1FFFFFFFFFFFFF) / 9007199254740992.0


@inline_kernel
def worth(a: float, b: float, combine: int) -> float:
    """Importance of a pair of rows.

    An infinite value means that a stream has no importance, and is ignored. If neither
    stream has an importance, the result is 1.
    """
    if np.isinf(a) or np.isinf(b):
        value = b if np.isinf(a) else a
        return 1.0 if np.isinf(value) else value
    if combine == MIN:
        return min(a, b)
    if combine == MAX:
        return max(a, b)
    if combine == SUM:
        return a + b
    if combine == PRODUCT:
        return a * b
    return (a + b) / 2.0


@inline_kernel
def wins(slot: int, other: int, rules: Rules, table: Table) -> bool:
    """Whether a match of a resident is emitted.

    If the resident has coins of its own, the next of them decides. Otherwise the pair
    has one coin. Without coins, every match is emitted.
    """
    details = table.details[slot]
    key, number = table.residents[slot]["key"], table.number[slot]
    if rules.tosses and details["coins"]:
        turn = details["coins"] & COINS_LEFT
        return bool(coin(rules.seed, key, number, turn) < details["chance"])
    if rules.thins:
        return bool(coin(rules.seed, key, number, ~other) < details["chance"])
    return True


@inline_kernel
def is_spent(slot: int, table: Table) -> bool:
    """Use up one coin of a resident; return whether it was the last that wins."""
    details = table.details[slot]
    coins = details["coins"]
    if coins:
        details["coins"] = coins - 1
        table.meta[slot] |= DIRTY_BIT
    return bool(coins and (coins & COINS_LEFT) == coins >> COINS_SHIFT)


@inline_kernel
def emit(
    row: Row, slot: int, look: int, rules: Rules, table: Table, out: Found
) -> None:
    """Write down a match.

    In a join through a relation, ``look`` is the look that found the match.
    """
    details = table.details[slot]
    place = table.residents[slot]["place"]
    value = worth(row.importance, details["importance"], rules.combine)
    found = put_match(row.at, place, table.number[slot], value, out)
    if rules.related:
        out.matches[found]["look"] = look
    if rules.weighs:
        out.marks[found]["score"] = table.score[slot]
        out.marks[found]["chance"] = details["chance"]
    out.sums[0]["gained"] += value


@inline_kernel
def release(slot: int, time: int, rules: Rules, table: Table, out: Found) -> None:
    """Free the slot of a resident whose last winning coin was tossed at ``time``."""
    stream = table.meta[slot] & STREAM_BITS
    stayed = max(0, time - table.residents[slot]["time"])
    count_life(min(stayed, rules.keep[stream]), out)
    out.tally[SPENT, stream] += 1
    vacate(slot, pool_of(stream, rules), table)


class Look(NamedTuple):
    """Residents that an arrival looks for: a stream, a key, and a range of times."""

    stream: int
    key: np.int64
    low: int
    high: int


@inline_kernel
def looks_of(row: Row, rules: Rules, looks: Looks) -> int:
    """Number of looks of an arrival."""
    if rules.related:
        return int(looks.first[row.at + 1] - looks.first[row.at])
    return len(rules.keep)


@inline_kernel
def look_at(row: Row, each: int, rules: Rules, looks: Looks) -> Look:
    """One look of an arrival. For its own stream, the range of times is empty."""
    if rules.related:
        other, at = 1 - row.stream, looks.first[row.at] + each
        low = max(row.time - rules.keep[other], looks.low[at])
        high = min(row.time + rules.keep[row.stream], looks.high[at])
        return Look(other, looks.key[at], low, high)
    high = row.time + rules.keep[row.stream]
    if each == row.stream:
        return Look(each, row.key, high, high - 1)
    return Look(each, row.key, row.time - rules.keep[each], high)


@inline_kernel
def meet(
    row: Row,
    since: int,
    how: int,
    rules: Rules,
    looks: Looks,
    table: Table,
    out: Found,
) -> int:
    """Match an arrival with residents of the other streams; return how many match.

    ``how`` says what is done with each match. Residents with the number ``since`` or a
    greater one are left out. So of two rows of an instant, the later one is matched
    with the earlier one, and not the other way round.
    """
    found = 0
    for each in range(looks_of(row, rules, looks)):
        look = look_at(row, each, rules, looks)
        if look.low > look.high:
            continue
        slot = table.heads[bucket_of(look.key, look.stream, table)]
        hits, steps = 0, 0
        while slot >= 0:
            steps += 1
            resident = table.residents[slot]
            after = resident["next"]
            time = resident["time"]
            same = resident["key"] == look.key and look.low <= time <= look.high
            if same and table.number[slot] < since:
                hits += 1
                if how & EMIT and wins(slot, row.number, rules, table):
                    emit(row, slot, each, rules, table, out)
                if how & COUNT_IT:
                    note_match(slot, row.time, rules.decay, table)
                if how & FORESEE:
                    table.details[slot]["foreseen"] += 1.0
                if how & FORGET:
                    table.details[slot]["foreseen"] = 0.0
                if how & EMIT and rules.tosses and is_spent(slot, table):
                    release(slot, row.time, rules, table, out)
            slot = after
        facts = table.facts[0]
        facts["longest_chain"] = max(facts["longest_chain"], steps)
        if how & EMIT and rules.thins:
            out.tally[MET, row.stream] += hits
        found += hits
    return found


@inline_kernel
def has_room(
    row: Row, rules: Rules, looks: Looks, table: Table, out: Found, more: int
) -> bool:
    """Whether there is room for all matches of an arrival, and ``more`` matches."""
    free = out.matches.size - out.cursor[0]["found"] - more
    often = looks_of(row, rules, looks) if rules.related else 1
    if free >= often * table.facts[0]["count"]:
        return True
    hits = 0
    for each in range(looks_of(row, rules, looks)):
        look = look_at(row, each, rules, looks)
        if look.low > look.high:
            continue
        slot = table.heads[bucket_of(look.key, look.stream, table)]
        while slot >= 0:
            resident = table.residents[slot]
            time = resident["time"]
            hits += resident["key"] == look.key and look.low <= time <= look.high
            slot = resident["next"]
    return bool(hits <= free)
