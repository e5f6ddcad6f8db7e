"""Shard numbers that Spark's hash partitioning spreads evenly.

Spark sends grouping key ``k`` to partition ``pmod(murmur3(k), partitions)``. Numbers
0, 1, 2, ... would land at random (four of them on two partitions may fall 3 and 1),
so the smallest numbers are taken that fill every partition equally. Zero is always
among them.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def shard_numbers(shards: int, partitions: int) -> list[int]:
    """Numbers of the shards, in order, spread over the partitions."""
    room = [-(-shards // partitions)] * partitions
    numbers: list[int] = []
    candidate = 0
    while len(numbers) < shards:
        partition = spark_hash(candidate) % partitions
        if room[partition]:
            room[partition] -= 1
            numbers.append(candidate)
        candidate += 1
    return numbers


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
