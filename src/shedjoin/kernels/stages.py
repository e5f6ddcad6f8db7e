"""Steps of a round: what happens to one arrival, one victim, one match.

Steps take bundles of arrays. That costs nothing in kernels that count no references
(:func:`shedjoin.kernels.jit.step`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import step
from shedjoin.kernels.slots import (
    CLOCK,
    COUNT,
    DIRTY_BIT,
    FILL_AT,
    KEY,
    LONGEST,
    NEXT,
    NUMBER,
    PLACE,
    SIDE_BIT,
    TIME,
    Newcomer,
    count_hits,
    head_of,
    note_match,
    occupy,
    record_of,
    vacate,
)
from shedjoin.kernels.victims import (
    FULL,
    HEAD,
    expect,
    offer,
    rear,
)
from shedjoin.types import FloatArray, IntArray

DONE, ROOM, FILL, RECOMPUTE, GROW = range(5)
"""Why a kernel stopped: all arrivals done, no room for matches, no victim known,
scores are due, no free slot."""

ADMIT, PROBE, RETAIN = 1, 2, 4
"""What an arrival does."""

MIN, MAX, SUM, PRODUCT, MEAN = range(5)
"""How the importances of two partners combine."""

GAINED, LIFE, LIFE_SQUARED = range(3)
REFUSED, EVICTED, OUTLIVED, STORED, SPENT, MET = 0, 2, 4, 6, 8, 10
CURSOR, FOUND, PHASE, SINCE, GROUP_END, GROUP_AT, FIRST, ZERO = range(12, 20)
STATE = 20
GROUP_ROWS = 64
EMIT, COUNT_IT = 1, 2
AHEAD = 32
COINS_SHIFT = 32
COINS_LEFT = (1 << COINS_SHIFT) - 1
"""A resident's coins: how many are left, and above them which of these is the last
that wins; counted down, so that the last of all is 1."""
_SECOND = 1e-6


class Arriving(NamedTuple):
    """Arrivals of a round in their order."""

    side: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    score: FloatArray
    place: IntArray
    does: IntArray
    chance: FloatArray
    coins: IntArray


class Table(NamedTuple):
    """The slot table; ``words`` and ``reals`` are the same memory."""

    words: IntArray
    reals: FloatArray
    score: FloatArray
    importance: FloatArray
    meta: IntArray
    chance: FloatArray
    coins: IntArray


class Victims(NamedTuple):
    """Candidates of both pools."""

    cells: IntArray
    worths: FloatArray


class Rules(NamedTuple):
    """What does not change during a round; pairs are (left, right)."""

    keep: tuple[int, ...]
    capacity: tuple[int, int]
    pooled: int
    tie: int
    maturity: int
    decay: float
    foresee: int
    combine: int
    valued: int
    thins: int
    tosses: int
    weighs: int
    seed: int
    bucket_seed: int
    window: int


class Found(NamedTuple):
    """Matches, counts, cursors, and who left.

    A match is three words of ``pairs``: arrival, payload place and number of the
    resident. ``left`` holds, by slot, the number of the arrival that made its resident
    leave; ``gone`` likewise by arrival. Only what left since number ``state[FIRST]``
    counts; ``state[ZERO]`` is the number of the first arrival.
    Both are empty where nobody asks.

    Of a sample, ``marks`` holds score and chance of the resident of each match, and
    ``raised``, by pool, the highest score that left: before any arrival, by the first
    one, and so on.
    """

    pairs: IntArray
    state: IntArray
    sums: FloatArray
    group: IntArray
    left: IntArray
    gone: IntArray
    marks: FloatArray
    raised: FloatArray


class Row(NamedTuple):
    """One arrival that looks for matches."""

    key: np.int64
    time: int
    side: int
    importance: float
    at: int
    number: int


@step
def coin(seed: int, key: np.int64, number: np.int64, other: int) -> float:
    """Toss a coin for a resident and something of its own: in [0, 1), always the same.

    By key and number: numbers alone repeat from shard to shard.
    """
    bits = mixed(mixed(mixed(key + seed) + number) ^ other)
    return float((bits >> 11) & 0x1FFFFFFFFFFFFF) / 9007199254740992.0


@step
def worth(a: float, b: float, combine: int) -> float:
    """Importance of a pair; a side without importance (infinite) has no say."""
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


@step
def welcome(
    row: Row,
    hits: int,
    rules: Rules,
    arriving: Arriving,
    table: Table,
    victims: Victims,
    out: Found,
) -> int:
    """Make an arrival a resident and a candidate; return its slot.

    A fill finds it if there is no room for one more candidate.
    """
    words, cells, at = table.words, victims.cells, row.at
    pool = 0 if rules.pooled else row.side
    head = HEAD * pool
    place, size, score = arriving.place[at], arriving.size[at], arriving.score[at]
    newcomer = Newcomer(row.key, row.time, row.side, place, size, float(hits))
    slot = occupy(newcomer, pool, words, table.reals, table.meta)
    table.score[slot] = score
    table.importance[slot] = row.importance
    table.chance[slot] = arriving.chance[at]
    table.coins[slot] = arriving.coins[at]
    out.state[STORED + row.side] += 1
    if rules.maturity < 0 or row.time - words[CLOCK] > rules.window:
        # A row from the future would never mature, nor would those behind it.
        fits = offer(slot, row.number, score, rules.tie, head, cells, victims.worths)
    else:
        fits = rear(slot, row.number, row.time, head, cells)
    expiry = row.time + rules.keep[row.side]
    if expiry < words[FILL_AT]:
        fits = expect(slot, row.number, expiry, head, cells) and fits
    if not fits:
        cells[head + FULL] = 1
    return slot


@step
def wins(slot: int, base: int, other: int, rules: Rules, table: Table) -> bool:
    """Whether a match of a resident is emitted: the coins it has, or one per pair."""
    key, number = table.words[base + KEY], table.words[base + NUMBER]
    if rules.tosses and table.coins[slot]:
        turn = table.coins[slot] & COINS_LEFT
        return bool(coin(rules.seed, key, number, turn) < table.chance[slot])
    if rules.thins:
        return bool(coin(rules.seed, key, number, ~other) < table.chance[slot])
    return True


@step
def is_spent(slot: int, table: Table) -> bool:
    """Take one of a resident's coins; whether it was the last that wins."""
    coins = table.coins[slot]
    if coins:
        table.coins[slot] = coins - 1
        table.meta[slot] |= DIRTY_BIT
    return bool(coins and (coins & COINS_LEFT) == coins >> COINS_SHIFT)


@step
def mark(slot: int, found: int, table: Table, out: Found) -> None:
    """Note what the weight of a match depends on."""
    out.marks[2 * found] = table.score[slot]
    out.marks[2 * found + 1] = table.chance[slot]


@step
def count_life(stayed_us: int, out: Found) -> None:
    """Add the time that a row stayed to the lifetimes."""
    seconds = stayed_us * _SECOND
    out.sums[LIFE] += seconds
    out.sums[LIFE_SQUARED] += seconds * seconds


@step
def let_go(slot: int, rules: Rules, table: Table, out: Found) -> None:
    """Free the slot of a resident whose coins are spent."""
    words = table.words
    side = table.meta[slot] & SIDE_BIT
    stayed = max(0, words[CLOCK] - words[record_of(slot, words) + TIME])
    count_life(min(stayed, rules.keep[side]), out)
    out.state[SPENT + side] += 1
    vacate(slot, 0 if rules.pooled else side, words, table.meta)


@step
def meet(row: Row, since: int, how: int, rules: Rules, table: Table, out: Found) -> int:
    """Match an arrival with the residents of the other side; return how many.

    Residents from number ``since`` on are left out: of two rows of an instant the
    later meets the earlier, once.
    """
    words, state = table.words, out.state
    other = 1 - row.side
    low = row.time - rules.keep[other]
    high = row.time + rules.keep[row.side]
    slot = words[head_of(row.key, other, words)]
    hits, steps = 0, 0
    while slot >= 0:
        steps += 1
        base = record_of(slot, words)
        after = words[base + NEXT]
        same = words[base + KEY] == row.key and low <= words[base + TIME] <= high
        if same and words[base + NUMBER] < since:
            hits += 1
            if how & EMIT and wins(slot, base, row.number, rules, table):
                place = 3 * state[FOUND]
                out.pairs[place] = row.at
                out.pairs[place + 1] = words[base + PLACE]
                out.pairs[place + 2] = words[base + NUMBER]
                if rules.weighs:
                    mark(slot, state[FOUND], table, out)
                state[FOUND] += 1
                value = worth(row.importance, table.importance[slot], rules.combine)
                out.sums[GAINED] += value
            if how & COUNT_IT:
                note_match(base, row.time, rules.decay, words, table.reals)
                table.meta[slot] |= DIRTY_BIT
            if rules.tosses and is_spent(slot, table):
                let_go(slot, rules, table, out)
        slot = after
    words[LONGEST] = max(words[LONGEST], steps)
    state[MET + other] += hits
    return hits


@step
def has_room(row: Row, rules: Rules, words: IntArray, out: Found) -> bool:
    """Whether all matches of an arrival fit."""
    free = out.pairs.size // 3 - out.state[FOUND]
    if free >= words[COUNT]:
        return True
    low = row.time - rules.keep[1 - row.side]
    high = row.time + rules.keep[row.side]
    return bool(count_hits(row.key, low, high, 1 - row.side, words) <= free)


@step
def row_at(at: int, number: int, arriving: Arriving) -> Row:
    """One arrival with its number."""
    return Row(
        arriving.key[at],
        arriving.time[at],
        arriving.side[at],
        arriving.importance[at],
        at,
        number,
    )
