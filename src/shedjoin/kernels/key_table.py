"""A hash table of fixed size that counts how often each key came on each stream.

A key is identified by 32 bits of its hash, which also choose its bucket. A bucket has
room for eight keys. If a bucket is full, a new key replaces the key with the least
count. As long as there is room for all keys that come, counts are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shedjoin.kernels.hashing import mixed
from shedjoin.kernels.jit import inline_kernel, kernel_no_refcount
from shedjoin.types import FloatArray, HalfArray, IntArray, LinkArray

PACES = 2
BUCKET = 8
SALT = np.int64(0x5851F42D4C957F2D)
_EMPTY = 0
_UNKNOWN = -1


class KeyTable(NamedTuple):
    """Hashes of keys, and their counts by key, stream and pace."""

    tag: LinkArray
    counts: HalfArray


@inline_kernel
def tag_of(key: np.int64) -> np.int32:
    """32 bits of the hash of a key; never the value that marks an empty place."""
    tag = np.int32(mixed(key ^ SALT) >> 32)
    return np.int32(1) if tag == _EMPTY else tag


@inline_kernel
def bucket_at(tag: np.int32, table: KeyTable) -> int:
    """First place of a key's bucket."""
    buckets = table.tag.size // BUCKET
    return int(BUCKET * (np.int64(tag) & (buckets - 1)))


@inline_kernel
def find_key(key: np.int64, table: KeyTable) -> int:
    """Place of a key, or -1 if it is not in the table."""
    tag = tag_of(key)
    first = bucket_at(tag, table)
    for place in range(first, first + BUCKET):
        if table.tag[place] == tag:
            return int(place)
    return _UNKNOWN


@inline_kernel
def weakest(first: int, table: KeyTable) -> int:
    """Find an empty place of a bucket, or else the place of the least frequent key."""
    least, chosen = np.inf, first
    for place in range(first, first + BUCKET):
        if table.tag[place] == _EMPTY:
            return int(place)
        total = 0.0
        for stream in range(table.counts.shape[1]):
            total += table.counts[place, stream, 0]
        if total < least:
            least, chosen = total, place
    return int(chosen)


@kernel_no_refcount
def add_keys(
    stream: int, key: IntArray, weight: FloatArray, into_table: KeyTable
) -> None:
    """Count keys of a stream; each arrival has a weight for each pace."""
    counts = into_table.counts
    for row in range(key.size):
        place = find_key(key[row], into_table)
        if place < 0:
            tag = tag_of(key[row])
            place = weakest(bucket_at(tag, into_table), into_table)
            into_table.tag[place] = tag
            for each in range(counts.shape[1]):
                for pace in range(PACES):
                    counts[place, each, pace] = 0.0
        for pace in range(PACES):
            counts[place, stream, pace] += np.float32(weight[PACES * row + pace])


@kernel_no_refcount
def read_keys(
    stream: int, pace: int, key: IntArray, table: KeyTable, into_count: FloatArray
) -> None:
    """Counts of keys on a stream at one pace, as they are stored in the table."""
    for row in range(key.size):
        place = find_key(key[row], table)
        into_count[row] = table.counts[place, stream, pace] if place >= 0 else 0.0


@kernel_no_refcount
def move_keys(table: KeyTable, into_table: KeyTable) -> None:
    """Insert all keys into an empty table that has more room."""
    for place in range(table.tag.size):
        tag = table.tag[place]
        if tag != _EMPTY:
            to = weakest(bucket_at(tag, into_table), into_table)
            into_table.tag[to] = tag
            for stream in range(table.counts.shape[1]):
                for pace in range(PACES):
                    into_table.counts[to, stream, pace] = table.counts[
                        place, stream, pace
                    ]
