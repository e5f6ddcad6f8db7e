"""Slot tables for tests, and what they hold as plain Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.clock import UNSEEN
from shedjoin.kernels.slots import (
    ALIVE_BIT,
    DIRTY_BIT,
    NOBODY,
    SIZE_SHIFT,
    STREAM_BITS,
    Table,
    link,
    relink,
    take_free,
)
from shedjoin.operators.budgeted.layout import table_in, words_of

KEEP = (6, 3, 9)
KEYS = (0, 1, 2, -1, 2**63 - 1, -(2**63))


class Row(NamedTuple):
    """What the tests know of a resident."""

    number: int
    slot: int
    stream: int
    key: int
    time: int
    size: int = 1


def empty_table(slots: int, streams: int, *, seed: int = -7) -> Table:
    """A table of which all slots are free."""
    table = table_in(np.zeros(words_of(slots, streams), np.int64), streams)
    table.facts[0]["bucket_seed"] = seed
    table.streams["latest"] = UNSEEN
    relink(np.zeros(0, np.int64), table)
    return table


def moved_in(
    table: Table, stream: int, key: int, time: int, *, size: int = 1, pool: int = 0
) -> Row:
    """Make a row a resident."""
    facts = table.facts[0]
    number, slot = int(facts["next_number"]), take_free(table)
    table.number[slot] = number
    table.residents[slot]["key"], table.residents[slot]["time"] = key, time
    table.meta[slot] = (size << SIZE_SHIFT) | stream | ALIVE_BIT | DIRTY_BIT
    facts["next_number"] += 1
    facts["count"] += 1
    table.streams[stream]["residents"] += 1
    table.streams[pool]["used"] += size
    link(slot, stream, table)
    return Row(number, slot, stream, key, time, size)


def chain(table: Table, head: int) -> list[int]:
    """Slots of a chain from its head on; both directions have to agree."""
    found: list[int] = []
    before, slot = NOBODY, head
    while slot >= 0:
        assert int(table.residents[slot]["previous"]) == before
        assert len(found) < table.meta.size, "the chain is a ring"
        found.append(slot)
        before, slot = slot, int(table.residents[slot]["next"])
    return found


def chains(table: Table) -> list[list[int]]:
    """Chains of all buckets, stream by stream."""
    return [chain(table, int(head)) for head in table.heads]


def free_slots(table: Table) -> list[int]:
    """Slots of the free list, from its head on."""
    found: list[int] = []
    slot = int(table.facts[0]["first_free"])
    while slot >= 0:
        assert len(found) < table.meta.size, "the free list is a ring"
        found.append(slot)
        slot = int(table.residents[slot]["next"])
    return found


def rows_of(table: Table) -> list[Row]:
    """Residents of a table, by number."""
    return sorted(
        Row(
            int(table.number[slot]),
            slot,
            int(table.meta[slot]) & STREAM_BITS,
            int(table.residents[slot]["key"]),
            int(table.residents[slot]["time"]),
            int(table.meta[slot]) >> SIZE_SHIFT,
        )
        for slot in range(table.meta.size)
        if int(table.meta[slot]) & ALIVE_BIT
    )


def crowded(streams: int, rng: np.random.Generator, count: int = 20) -> Table:
    """A table of residents with few keys; place 100 + number, importance 1 + number."""
    table = empty_table(count + 3, streams)
    for _ in range(count):
        key, time = KEYS[rng.integers(3)], int(rng.integers(-5, 20))
        row = moved_in(table, int(rng.integers(streams)), key, time)
        table.residents[row.slot]["place"] = 100 + row.number
        details = table.details[row.slot]
        details["importance"] = 1.0 + row.number
        details["chance"] = 0.5
    return table


def partners(table: Table, stream: int, key: int, time: int, since: int) -> list[Row]:
    """Residents that an arrival meets, by the definition of the window."""
    return [
        row
        for row in rows_of(table)
        if row.stream != stream
        and row.key == key
        and row.number < since
        and -KEEP[stream] <= time - row.time <= KEEP[row.stream]
    ]
