"""Finds residents whose columns lie in given ranges.

Columns are 64-bit integers: keys, times, and values as order codes. The rows of a
*tier* are sorted by key, *lead* and place. The lead is one compared column, or the
time. So a range of leads of one key is found by two binary searches. All other
conditions are also ranges. These ranges are tested for a block of residents, column by
column, so that the compiler can test several residents at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.jit import inline_kernel, kernel
from shedjoin.types import BoolArray, FloatArray, IntArray, IntGrid

KEY, LEAD, PLACE, TIME = range(4)
"""Columns that every tier has. The columns of compared values follow."""
COLUMNS = 4
BLOCK = 256


class Asked(NamedTuple):
    """The conditions of several partial results.

    A resident must have the ``key`` of the partial result, and a lead from ``first`` to
    ``last``. There may be further conditions, each on a ``column``. The value there
    must lie from ``low`` to ``high``, or outside of this range if ``inside`` is false.
    ``low`` and ``high`` are by condition and partial result.
    """

    key: IntArray
    first: IntArray
    last: IntArray
    column: IntArray
    inside: BoolArray
    low: IntGrid
    high: IntGrid


class Pairs(NamedTuple):
    """Room for matches: number of the partial result, and row of the tier.

    There is room for one block more than was asked for.
    """

    partial: IntArray
    row: IntArray

    @staticmethod
    def room(matches: int) -> Pairs:
        """Room for this many matches."""
        size = matches + BLOCK
        return Pairs(np.empty(size, np.int64), np.empty(size, np.int64))


@inline_kernel
def first_from(tier: IntGrid, key: int, lead: int, low: int) -> int:
    """Find the first row from ``low`` on that does not come before this key and lead.

    The row is usually near, so the search begins with strides that double.
    """
    high, stride = low, 1
    while high < tier.shape[1]:
        own = tier[KEY, high]
        if own > key or (own == key and tier[LEAD, high] >= lead):
            break
        low = high + 1
        high += stride
        stride *= 2
    high = min(high, tier.shape[1])
    while low < high:
        middle = (low + high) // 2
        own = tier[KEY, middle]
        if own < key or (own == key and tier[LEAD, middle] < lead):
            low = middle + 1
        else:
            high = middle
    return low


@inline_kernel
def first_beyond(tier: IntGrid, key: int, lead: int, low: int) -> int:
    """Find the first row from ``low`` on that comes after this key and lead."""
    high, stride = low, 1
    while high < tier.shape[1]:
        own = tier[KEY, high]
        if own > key or (own == key and tier[LEAD, high] > lead):
            break
        low = high + 1
        high += stride
        stride *= 2
    high = min(high, tier.shape[1])
    while low < high:
        middle = (low + high) // 2
        own = tier[KEY, middle]
        if own < key or (own == key and tier[LEAD, middle] <= lead):
            low = middle + 1
        else:
            high = middle
    return low


@inline_kernel
def keep_inside(values: IntArray, low: int, high: int, into_fits: BoolArray) -> None:
    """Clear the flags of rows whose values do not lie in a range."""
    for at in range(values.size):
        into_fits[at] &= (values[at] >= low) & (values[at] <= high)


@inline_kernel
def keep_outside(values: IntArray, low: int, high: int, into_fits: BoolArray) -> None:
    """Clear the flags of rows whose values lie in a range."""
    for at in range(values.size):
        into_fits[at] &= (values[at] < low) | (values[at] > high)


@kernel
def meet(
    asked: Asked,
    tier: IntGrid,
    order: IntArray,
    start: int,
    start_row: int,
    into_pairs: Pairs,
) -> tuple[int, int, int, int]:
    """Match partial results with a tier until the room is full.

    ``order`` sorts the partial results by key and by the first lead that they ask for.
    They are matched from the position ``start`` on. Returns the number of matches, the
    position and the row from which to continue, and the number of residents looked at.
    """
    room = into_pairs.row.size - BLOCK
    fits = np.empty(BLOCK, np.bool_)
    found = looked = lowest = 0
    for place in range(start, order.size):
        partial = order[place]
        key = asked.key[partial]
        lowest = first_from(tier, key, asked.first[partial], lowest)
        first = max(lowest, start_row)
        beyond = first_beyond(tier, key, asked.last[partial], first)
        start_row = 0
        while first < beyond:
            if found >= room:
                return found, place, first, looked
            until = min(first + BLOCK, beyond)
            looked += until - first
            fits[:] = True
            for each in range(asked.column.size):
                values = tier[asked.column[each], first:until]
                low, high = asked.low[each, partial], asked.high[each, partial]
                if asked.inside[each]:
                    keep_inside(values, low, high, fits)
                else:
                    keep_outside(values, low, high, fits)
            # Most blocks have no match. Testing for that first is several times faster.
            some = False
            for at in range(until - first):
                some |= fits[at]
            for at in range(until - first if some else 0):
                into_pairs.partial[found] = partial
                into_pairs.row[found] = first + at
                found += fits[at]
            first = until
    return found, order.size, 0, looked


_FEW_BUCKETS = 6
"""A tier seldom has rows in more lag buckets than this."""


@kernel
def count_lags(
    asked: Asked,
    tier: IntGrid,
    start: int,
    end: int,
    time: IntArray,
    edges: IntArray,
    into_counts: FloatArray,
) -> None:
    """Count the residents that partial results look at, by lag.

    A lag is the time of the arrival minus the time of the resident. A bucket of lags
    begins at one of the ``edges`` and ends before the next; the last edge belongs to
    the last bucket. ``time`` has the time of the arrival of each partial result.
    """
    last = edges.size - 1
    oldest, newest = tier[TIME, 0], tier[TIME, 0]
    for row in range(1, tier.shape[1]):
        oldest = min(oldest, tier[TIME, row])
        newest = max(newest, tier[TIME, row])
    for partial in range(start, end):
        key, now = asked.key[partial], time[partial]
        first = first_from(tier, key, asked.first[partial], 0)
        beyond = first_beyond(tier, key, asked.last[partial], first)
        if edges[0] <= now - newest and now - oldest <= edges[last]:
            low = min(np.searchsorted(edges, now - newest, side="right"), last) - 1
            high = min(np.searchsorted(edges, now - oldest, side="right"), last) - 1
            if high <= low + _FEW_BUCKETS:  # faster than a search for each row
                before = 0
                for bucket in range(low, high):
                    beneath = 0
                    for row in range(first, beyond):
                        beneath += now - tier[TIME, row] < edges[bucket + 1]
                    into_counts[bucket] += beneath - before
                    before = beneath
                into_counts[high] += beyond - first - before
                continue
        for row in range(first, beyond):
            lag = now - tier[TIME, row]
            if edges[0] <= lag <= edges[last]:
                bucket = np.searchsorted(edges, lag, side="right") - 1
                into_counts[min(bucket, last - 1)] += 1


@kernel
def merge(one: IntGrid, other: IntGrid, into_tier: IntGrid) -> None:
    """Merge two sorted tiers into one."""
    at, there = 0, 0
    for row in range(into_tier.shape[1]):
        mine = there >= other.shape[1]
        if not mine and at < one.shape[1]:
            column = 0
            while column < PLACE and one[column, at] == other[column, there]:
                column += 1
            mine = one[column, at] < other[column, there]
        if mine:
            into_tier[:, row] = one[:, at]
            at += 1
        else:
            into_tier[:, row] = other[:, there]
            there += 1
