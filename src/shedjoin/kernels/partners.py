"""Partners: how many rows of the other stream each row could be matched with now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel, kernel_no_refcount
from shedjoin.kernels.round import Looks, Rules
from shedjoin.kernels.slots import Table, bucket_of
from shedjoin.types import FloatArray, IntArray


class Rows(NamedTuple):
    """Rows of two streams, and the keys of the other stream for which they look."""

    stream: IntArray
    key: IntArray
    time: IntArray
    looks: Looks


class Sorted(NamedTuple):
    """Rows sorted by stream, key and time; ``first`` is where each stream begins."""

    key: IntArray
    time: IntArray
    first: tuple[int, int, int]


class Ranges(NamedTuple):
    """Keys of a stream, each with a range of times."""

    stream: int
    key: IntArray
    low: IntArray
    high: IntArray


class Pairs(NamedTuple):
    """Room for the residents that are found: index of the range, and slot."""

    row: IntArray
    slot: IntArray


def sorted_rows(stream: IntArray, key: IntArray, time: IntArray) -> Sorted:
    """Sort rows by stream, key and time."""
    order = np.lexsort((time, key, stream))
    rights = int(np.count_nonzero(stream))
    first = 0, stream.size - rights, stream.size
    return Sorted(np.take(key, order), np.take(time, order), first)


@inline_kernel
def lows(row: int, rows: Rows, rules: Rules, now_us: int) -> int:
    """Earliest time of a partner of a row; expired rows are no partners."""
    other = 1 - rows.stream[row]
    return int(max(rows.time[row], now_us) - rules.keep[other])


@inline_kernel
def highs(row: int, rows: Rows, rules: Rules) -> int:
    """Latest time of a partner of a row."""
    return int(rows.time[row] + rules.keep[rows.stream[row]])


@kernel_no_refcount
def count_residents(
    rows: Rows, rules: Rules, now_us: int, table: Table, into: FloatArray
) -> None:
    """For each row, count the residents with which it could be matched."""
    for row in range(rows.key.size):
        earliest, latest = lows(row, rows, rules, now_us), highs(row, rows, rules)
        other, found = 1 - rows.stream[row], 0
        for look in range(rows.looks.first[row], rows.looks.first[row + 1]):
            key = rows.looks.key[look]
            low = max(earliest, rows.looks.low[look])
            high = min(latest, rows.looks.high[look])
            slot = table.heads[bucket_of(key, other, table)]
            while slot >= 0:
                resident = table.residents[slot]
                found += resident["key"] == key and low <= resident["time"] <= high
                slot = resident["next"]
        into[row] = found


@inline_kernel
def first_at(
    major: np.int64 | int,
    minor: np.int64 | int,
    start: int,
    end: int,
    majors: IntArray,
    minors: IntArray,
) -> int:
    """Find the first row that is not below (major, minor); rows are sorted by both."""
    while start < end:
        middle = (start + end) >> 1
        own = majors[middle]
        if own < major or (own == major and minors[middle] < minor):
            start = middle + 1
        else:
            end = middle
    return start


@kernel
def count_among(
    rows: Rows, rules: Rules, now_us: int, others: Sorted, into: FloatArray
) -> None:
    """For each row, count the rows in ``others`` with which it could be matched."""
    for row in range(rows.key.size):
        earliest, latest = lows(row, rows, rules, now_us), highs(row, rows, rules)
        other, found = 1 - rows.stream[row], 0
        start, end = others.first[other], others.first[other + 1]
        for look in range(rows.looks.first[row], rows.looks.first[row + 1]):
            key = rows.looks.key[look]
            low = max(earliest, rows.looks.low[look])
            high = min(latest, rows.looks.high[look])
            if low <= high:
                above = first_at(key, high + 1, start, end, others.key, others.time)
                below = first_at(key, low, start, end, others.key, others.time)
                found += above - below
        into[row] = found


@kernel_no_refcount
def find_residents(
    ranges: Ranges, start: int, first: int, table: Table, pairs: Pairs
) -> tuple[int, int, int]:
    """Find residents by key and range of times, until the room is full.

    The search begins at the key ``start``. If ``first`` is a slot, it begins at this
    slot of the key's chain. Returns how many residents were found, and the key and slot
    from which to continue.
    """
    found = 0
    for row in range(start, ranges.key.size):
        key, slot = ranges.key[row], first
        if slot < 0:
            slot = int(table.heads[bucket_of(key, ranges.stream, table)])
        first = -1
        while slot >= 0:
            resident = table.residents[slot]
            time = resident["time"]
            inside = ranges.low[row] <= time <= ranges.high[row]
            if resident["key"] == key and inside:
                if found == pairs.row.size:
                    return found, row, slot
                pairs.row[found] = row
                pairs.slot[found] = slot
                found += 1
            slot = int(resident["next"])
    return found, ranges.key.size, -1
