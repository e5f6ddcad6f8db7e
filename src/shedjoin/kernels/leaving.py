"""Who leaves: shedding step by step, and reading ahead for it."""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import step
from shedjoin.kernels.slots import (
    CLOCK,
    FILL_AT,
    KEY,
    NEXT_NUMBER,
    NOBODY,
    NUMBER,
    SHEDS,
    SIDE_BIT,
    TIME,
    USED,
    head_of,
    record_of,
    vacate,
)
from shedjoin.kernels.stages import (
    AHEAD,
    DONE,
    EVICTED,
    FILL,
    FIRST,
    OUTLIVED,
    RECOMPUTE,
    REFUSED,
    SINCE,
    STORED,
    ZERO,
    Arriving,
    Found,
    Row,
    Rules,
    Table,
    Victims,
    count_life,
)
from shedjoin.kernels.victims import (
    EXPIRING_AT,
    EXPIRING_END,
    EXPIRING_HEAD,
    FULL,
    HEAD,
    HEAP_AT,
    HEAP_SIZE,
    HEAP_WORTH_AT,
    QUEUE_AT,
    QUEUE_END,
    QUEUE_HEAD,
    QUEUE_WORTH_AT,
    comes_before,
    expired,
    grow_up,
    next_victim,
)
from shedjoin.types import IntArray


@step
def touch_victims(table: Table, cells: IntArray) -> float:
    """Read what the next victims will need."""
    words, meta = table.words, table.meta
    total = 0.0
    for pool in range(2):
        head = HEAD * pool
        start, end = cells[head + QUEUE_HEAD], cells[head + QUEUE_END]
        for place in range(start, min(start + AHEAD, end)):
            slot = cells[cells[head + QUEUE_AT] + 2 * place]
            bits = meta[slot]
            key_there = words[record_of(slot, words) + KEY]
            total += words[head_of(key_there, bits & SIDE_BIT, words)]
    return total


@step
def touch_newcomers(
    first: int, end: int, arriving: Arriving, table: Table, victims: Victims
) -> float:
    """Read what the next arrivals will need, if they are likely to be stored."""
    words, cells = table.words, victims.cells
    low = -np.inf
    if cells[QUEUE_HEAD] < cells[QUEUE_END]:
        low = victims.worths[cells[QUEUE_WORTH_AT] + cells[QUEUE_HEAD]]
    total = 0.0
    for row in range(first, min(first + AHEAD, end)):
        if arriving.score[row] >= low:
            head = words[head_of(arriving.key[row], arriving.side[row], words)]
            if head >= 0:
                total += words[record_of(head, words)]
    return total


@step
def touch(first: int, key: IntArray, table: Table, cells: IntArray) -> float:
    """Read what the next arrivals and their victims will need.

    The reads do not depend on each other, so their cache misses overlap; one by one
    they would be most of the work.
    """
    words, meta, importance = table.words, table.meta, table.importance
    total = 0.0
    for row in range(first, min(first + AHEAD, key.size)):
        for side in range(2):
            head = words[head_of(key[row], side, words)]
            if head >= 0:
                total += words[record_of(head, words)] + meta[head] + importance[head]
    return total + touch_victims(table, cells)


@step
def note_leaving(slot: int, words: IntArray, out: Found) -> None:
    """Note by which arrival a resident had to leave, if anybody asks."""
    if out.left.size:
        first, number = out.state[FIRST], words[record_of(slot, words) + NUMBER]
        if number >= first:
            out.gone[number - out.state[ZERO]] = words[NEXT_NUMBER] - 1
        elif out.left[slot] < first:
            out.left[slot] = words[NEXT_NUMBER] - 1


@step
def raise_bar(score: float, pool: int, words: IntArray, out: Found) -> None:
    """Note the score of who has to leave: of a sample, the inclusion follows it."""
    at = pool * (out.raised.size // 2) + words[NEXT_NUMBER] - out.state[ZERO]
    out.raised[at] = max(out.raised[at], score)


@step
def settle(rules: Rules, table: Table, victims: Victims, out: Found) -> int:
    """Shed until every pool is within its capacity.

    A victim with an arrival number from ``state[SINCE]`` on counts as refused.
    """
    words, state, cells = table.words, out.state, victims.cells
    clock = words[CLOCK]
    for pool in range(2):
        head = HEAD * pool
        while words[USED + pool] > rules.capacity[pool]:
            if words[SHEDS] <= 0:
                return RECOMPUTE
            if clock >= words[FILL_AT] or cells[head + FULL]:
                return FILL
            grown = clock - rules.maturity
            if rules.maturity >= 0 and not grow_up(
                grown, rules.tie, head, words, table.score, cells, victims.worths
            ):
                return FILL
            slot = expired(clock, head, words, cells)
            if slot == NOBODY:
                slot = next_victim(rules.tie, head, words, cells, victims.worths)
                if slot != NOBODY and rules.weighs:
                    raise_bar(table.score[slot], pool, words, out)
            if slot == NOBODY:
                return FILL
            base = record_of(slot, words)
            side = table.meta[slot] & SIDE_BIT
            stayed = max(0, clock - words[base + TIME])
            if words[base + NUMBER] >= state[SINCE]:
                state[REFUSED + side] += 1
                stayed = 0
            elif stayed > rules.keep[side]:
                state[OUTLIVED + side] += 1
                stayed = rules.keep[side]
            else:
                state[EVICTED + side] += 1
            count_life(stayed, out)
            note_leaving(slot, words, out)
            vacate(slot, pool, words, table.meta)
            words[SHEDS] -= 1
    return DONE


@step
def shed_for_last(rules: Rules, table: Table, victims: Victims, out: Found) -> int:
    """Shed if the last arrival was one too many; it counts as refused if it goes."""
    words = table.words
    if words[USED] > rules.capacity[0] or words[USED + 1] > rules.capacity[1]:
        out.state[SINCE] = words[NEXT_NUMBER] - 1
        return settle(rules, table, victims, out)
    return DONE


@step
def is_hopeless(
    row: Row,
    size: int,
    score: float,
    clock: int,
    rules: Rules,
    table: Table,
    victims: Victims,
) -> bool:
    """Whether an arrival would be stored only to be the next to leave."""
    words, cells, worths = table.words, victims.cells, victims.worths
    pool = 0 if rules.pooled else row.side
    head = HEAD * pool
    if words[USED + pool] + size <= rules.capacity[pool] or rules.maturity >= 0:
        return False
    if words[SHEDS] <= 0 or clock >= words[FILL_AT] or cells[head + FULL]:
        return False
    first, last = cells[head + EXPIRING_HEAD], cells[head + EXPIRING_END]
    if first < last and cells[cells[head + EXPIRING_AT] + 3 * first + 2] < clock:
        return False
    first, last = cells[head + QUEUE_HEAD], cells[head + QUEUE_END]
    if first == last or not comes_before(
        score,
        row.number,
        worths[cells[head + QUEUE_WORTH_AT] + first],
        cells[cells[head + QUEUE_AT] + 2 * first + 1],
        rules.tie,
    ):
        return False
    return cells[head + HEAP_SIZE] == 0 or comes_before(
        score,
        row.number,
        worths[cells[head + HEAP_WORTH_AT]],
        cells[cells[head + HEAP_AT] + 1],
        rules.tie,
    )


@step
def refuse(row: Row, score: float, rules: Rules, table: Table, out: Found) -> None:
    """Count an arrival as stored and shed at once."""
    out.state[STORED + row.side] += 1
    out.state[REFUSED + row.side] += 1
    if out.gone.size:
        out.gone[row.number - out.state[ZERO]] = row.number
    table.words[SHEDS] -= 1
    table.words[NEXT_NUMBER] += 1
    if rules.weighs:
        raise_bar(score, 0 if rules.pooled else row.side, table.words, out)
