"""Shard numbers that Spark's hash partitioning spreads evenly.

Spark sends grouping key ``k`` to partition ``pmod(murmur3(k), partitions)``. The keys
0, 1, 2, ... would be spread at random: three of four keys may go to one partition, and
one to another. So the smallest keys are used that fill all partitions equally. They do
so if the number of partitions equals the number of shards or divides it. The keys
depend only on the number of shards, because a restarted query must find its shards
under the same keys, whatever the settings of the session are. Zero is always a key.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def shard_numbers(shards: int) -> list[int]:
    """Grouping keys of the shards, one for each of ``shards`` partitions, in order."""
    numbers: dict[int, int] = {}
    candidate = 0
    while len(numbers) < shards:
        numbers.setdefault(spark_hash(candidate) % shards, candidate)
        candidate += 1
    return list(numbers.values())


def spark_hash(value: int, seed: int = 42) -> int:
    """Spark's hash of one 32-bit integer (Murmur3, signed)."""
    mixed = _rotate(value * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    state = (_rotate(seed ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    state ^= 4
    state = (state ^ state >> 16) * 0x85EBCA6B & _MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & _MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _rotate(bits: int, by: int) -> int:
    return (bits << by | bits >> 32 - by) & _MASK
