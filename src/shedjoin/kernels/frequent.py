"""Counts the rows of a few frequent keys by time, and the rows that arrivals match."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.kernels.matching import worth
from shedjoin.types import Cube, FloatArray, IntArray

SALT = np.int64(0x2545F4914F6CDD1D)
NOT_FREQUENT = -1
BUCKETS = 32
"""Number of time buckets that are kept; older buckets are overwritten."""
LAST = 8
"""The importances of all rows of a key are estimated from this many last rows."""


class FrequentKeys(NamedTuple):
    """Frequent keys, and counts of their rows by key, stream and bucket of time.

    ``place`` is a hash table that gives the number of a key. ``counts`` has numbers of
    rows, ``sums`` the sums of their importances, and ``last`` the importances of the
    last rows. ``latest`` has the newest bucket, followed by the latest time of each
    stream.
    """

    place: IntArray
    key: IntArray
    counts: Cube
    sums: Cube
    last: Cube
    latest: IntArray
    width_us: int


class Counted(NamedTuple):
    """Arrivals in their order, with the number of their key, or NOT_FREQUENT."""

    stream: IntArray
    time: IntArray
    importance: FloatArray
    number: IntArray


class Rules(NamedTuple):
    """How long rows of each stream are kept, the clock, and how importances combine."""

    keep: IntArray
    clock_us: int
    valued: int
    combine: int


@inline_kernel
def number_of(key: np.int64, frequent: FrequentKeys) -> int:
    """Number of a frequent key, or NOT_FREQUENT."""
    place, mask = frequent.place, frequent.place.size - 1
    at = int(mixed(key ^ SALT) & mask)
    while place[at] >= 0:
        if frequent.key[place[at]] == key:
            return int(place[at])
        at = (at + 1) & mask
    return NOT_FREQUENT


@kernel_no_refcount
def put_keys(count: int, into: FrequentKeys) -> None:
    """Fill the hash table with the numbers of the first ``count`` keys."""
    place, mask = into.place, into.place.size - 1
    for at in range(place.size):
        place[at] = NOT_FREQUENT
    for number in range(count):
        at = int(mixed(into.key[number] ^ SALT) & mask)
        while place[at] >= 0:
            at = (at + 1) & mask
        place[at] = number


@kernel_no_refcount
def find_keys(key: IntArray, frequent: FrequentKeys, into_number: IntArray) -> None:
    """Find the numbers of keys; NOT_FREQUENT for keys that have none."""
    for row in range(key.size):
        into_number[row] = number_of(key[row], frequent)


@inline_kernel
def between(
    number: int, stream: int, low: int, high: int, frequent: FrequentKeys
) -> tuple[float, float]:
    """Count rows of a key and stream between two times, and sum their importance.

    Both times are inclusive. It is assumed that rows of a bucket are spread evenly from
    its start to its end, or to the latest time of their stream if that is earlier.
    """
    width, newest = frequent.width_us, frequent.latest[0]
    first = max(low // width, newest - BUCKETS + 1)
    last = min(high // width, newest)
    rows, total = 0.0, 0.0
    for bucket in range(first, last + 1):
        count = frequent.counts[number, stream, bucket % BUCKETS]
        if count > 0.0:
            start = bucket * width
            end = min(start + width, max(start, frequent.latest[1 + stream]) + 1)
            inside = (min(end, high + 1) - max(start, low)) / (end - start)
            inside = max(0.0, min(1.0, inside))
            rows += count * inside
            total += frequent.sums[number, stream, bucket % BUCKETS] * inside
    return rows, total


@inline_kernel
def worth_of(
    importance: float,
    number: int,
    other: int,
    rows: float,
    total: float,
    combine: int,
    frequent: FrequentKeys,
) -> float:
    """Importance of the results of an arrival with some rows of another stream.

    If only one of the two streams has an importance, the sums give the result. If both
    have one, the result is estimated from the last rows of the key.
    """
    last = frequent.last
    if np.isinf(last[number, other, 0]):
        return rows * (1.0 if np.isinf(importance) else importance)
    if np.isinf(importance):
        return total
    mean = 0.0
    for each in range(LAST):
        mean += worth(importance, last[number, other, each], combine) / LAST
    return rows * mean


@inline_kernel
def forward(bucket: int, into: FrequentKeys) -> None:
    """Move on to a newer bucket, and clear the old buckets that are overwritten."""
    latest = into.latest
    while latest[0] < bucket:
        latest[0] = max(latest[0] + 1, bucket - BUCKETS + 1)
        place = latest[0] % BUCKETS
        for number in range(into.counts.shape[0]):
            for stream in range(into.counts.shape[1]):
                into.counts[number, stream, place] = 0.0
                into.sums[number, stream, place] = 0.0


@kernel_no_refcount
def count_frequent(
    rows: Counted,
    rules: Rules,
    into: FrequentKeys,
    into_matches: FloatArray,
    into_worth: FloatArray,
) -> None:
    """Count arrivals of frequent keys, the rows that they match, and their importance.

    If there are several other streams, their numbers of rows are multiplied, and every
    result has the importance 1. Each arrival is matched first, and then counted itself.
    If the time of an arrival is after the clock, it is counted at the time of the
    clock.
    """
    latest, streams = into.latest, into.counts.shape[1]
    for row in range(rows.time.size):
        own, counted = rows.stream[row], min(rows.time[row], rules.clock_us)
        bucket, number = counted // into.width_us, rows.number[row]
        forward(bucket, into)
        latest[1 + own] = max(latest[1 + own], counted)
        into_matches[row] = 0.0
        into_worth[row] = 0.0
        if number < 0:
            continue
        matches, value, importance = 1.0, 0.0, rows.importance[row]
        for other in range(streams):
            if other != own:
                low = rows.time[row] - rules.keep[other]
                high = rows.time[row] + rules.keep[own]
                found, total = between(number, other, low, high, into)
                matches *= found
                if rules.valued:
                    combine = rules.combine
                    value = worth_of(
                        importance, number, other, found, total, combine, into
                    )
        into_matches[row] = matches
        into_worth[row] = value if rules.valued and streams == 2 else matches  # noqa: PLR2004
        if bucket <= latest[0] - BUCKETS:
            continue
        place = bucket % BUCKETS
        turn = int(into.counts[number, own].sum()) % LAST
        into.counts[number, own, place] += 1.0
        into.last[number, own, turn] = importance
        if not np.isinf(importance):
            into.sums[number, own, place] += importance
