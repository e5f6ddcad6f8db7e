"""Settling: what was decided about arrivals and residents is written to the slot table.

The decision itself needs only numbers and scores: an arrival *claims* a slot, and a
resident that is evicted *leaves* its slot. All else is written later, when a *run* ends
or Python has to read the table. (A run is a group of arrivals that are processed
together.) Then evicted residents are taken out of their chains, and the arrivals that
are still stored are written. This has two advantages: an arrival that is evicted within
its run is never written, and the processor waits for the memory of many rows at the
same time. If the processing of each arrival depends on the arrivals before it, each
arrival is settled by itself.
"""

from __future__ import annotations

from shedjoin.kernels.jit import inline_kernel
from shedjoin.kernels.round import (
    EVICTED,
    OUTLIVED,
    REFUSED,
    Arriving,
    Found,
    Row,
    Rules,
    count_life,
)
from shedjoin.kernels.slots import (
    ALIVE_BIT,
    DIRTY_BIT,
    NOBODY,
    SIZE_SHIFT,
    STREAM_BITS,
    Table,
    link,
    put_free,
    take_free,
    unlink,
)


@inline_kernel
def claim(row: Row, pool: int, arriving: Arriving, table: Table, out: Found) -> int:
    """Take a slot for an arrival; the slot that was left last is taken first."""
    facts, cursor = table.facts[0], out.cursor[0]
    if cursor["left"] > 0:
        cursor["left"] -= 1
        slot = int(out.left[cursor["left"]])
    else:
        slot = take_free(table)
    table.number[slot] = row.number
    table.score[slot] = arriving.score[row.at]
    facts["next_number"] = row.number + 1
    facts["count"] += 1
    table.streams[row.stream]["residents"] += 1
    table.streams[pool]["used"] += arriving.size[row.at]
    return slot


@inline_kernel
def leave(
    slot: int, pool: int, over: int, arriving: Arriving, table: Table, out: Found
) -> None:
    """Take the slot away from a resident, and record the resident as a victim.

    The record says at which arrival the resident left, and whether its time was over.
    """
    facts, cursor, number = table.facts[0], out.cursor[0], table.number[slot]
    victim = out.victims[cursor["victims"]]
    victim["slot"] = slot
    victim["number"] = number
    victim["since"] = cursor["instant_start"]
    victim["clock"] = facts["clock"]
    victim["over"] = over
    cursor["victims"] += 1
    if number >= cursor["settled"]:
        at = number - cursor["block_start"]
        size, stream = arriving.size[at], arriving.stream[at]
        out.slot_by_row[at] = NOBODY
    else:
        size = table.meta[slot] >> SIZE_SHIFT
        stream = table.meta[slot] & STREAM_BITS
    table.number[slot] = NOBODY
    table.streams[pool]["used"] -= size
    table.streams[stream]["residents"] -= 1
    facts["count"] -= 1
    facts["sheds_left"] -= 1
    out.left[cursor["left"]] = slot
    cursor["left"] += 1


@inline_kernel
def move_in(slot: int, at: int, hits: int, arriving: Arriving, table: Table) -> None:
    """Write an arrival into its slot, and link it into its chain."""
    resident, details = table.residents[slot], table.details[slot]
    stream = arriving.stream[at]
    resident["key"] = arriving.key[at]
    resident["time"] = arriving.time[at]
    resident["place"] = arriving.place[at]
    details["matches"] = float(hits)
    details["last_match"] = arriving.time[at]
    details["foreseen"] = 0.0
    details["importance"] = arriving.importance[at]
    details["chance"] = arriving.chance[at]
    details["coins"] = arriving.coins[at]
    table.meta[slot] = (
        (arriving.size[at] << SIZE_SHIFT) | stream | (ALIVE_BIT | DIRTY_BIT)
    )
    link(slot, stream, table)


@inline_kernel
def settle_victim(
    each: int, rules: Rules, arriving: Arriving, table: Table, out: Found
) -> None:
    """Count why a resident left, and take it out of its chain if it is in one."""
    victim, cursor = out.victims[each], out.cursor[0]
    slot, number, since = victim["slot"], victim["number"], victim["since"]
    at = number - cursor["block_start"]
    if number >= cursor["settled"]:
        time, stream = arriving.time[at], arriving.stream[at]
    else:
        time, stream = table.residents[slot]["time"], table.meta[slot] & STREAM_BITS
        unlink(slot, stream, table)
        table.meta[slot] = DIRTY_BIT
    if out.evicted_by_slot.size:
        if number >= cursor["run_start"]:
            out.evicted_by_row[at] = since
        else:
            out.evicted_by_slot[slot] = since
    stayed = max(0, victim["clock"] - time)
    if number >= since:
        out.tally[REFUSED, stream] += 1
        stayed = 0
    elif victim["over"]:
        out.tally[OUTLIVED, stream] += 1
        stayed = min(stayed, rules.keep[stream])
    else:
        out.tally[EVICTED, stream] += 1
    count_life(stayed, out)


@inline_kernel
def settle_victims(rules: Rules, arriving: Arriving, table: Table, out: Found) -> None:
    """Settle all residents that have left."""
    cursor = out.cursor[0]
    for each in range(cursor["victims"]):
        settle_victim(each, rules, arriving, table, out)
    cursor["victims"] = 0


@inline_kernel
def free_left(table: Table, out: Found) -> None:
    """Free the slots that residents have left and no arrival has claimed.

    A slot may have been free before the run, and claimed and left within it. It is then
    not marked as changed, because nothing reads the content of a free slot.
    """
    cursor = out.cursor[0]
    for each in range(cursor["left"]):
        put_free(out.left[each], table)
    cursor["left"] = 0


@inline_kernel
def settle(rules: Rules, arriving: Arriving, table: Table, out: Found) -> None:
    """Settle the arrivals of a run that were decided so far, and all victims."""
    cursor = out.cursor[0]
    settle_victims(rules, arriving, table, out)
    start = cursor["settled"] - cursor["block_start"]
    for at in range(start, cursor["row"]):
        if out.slot_by_row[at] >= 0:
            move_in(out.slot_by_row[at], at, 0, arriving, table)
    free_left(table, out)
    cursor["settled"] = table.facts[0]["next_number"]
