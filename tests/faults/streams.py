"""Short streams: few keys, rows that expire, some late, and batches without rows."""

from __future__ import annotations

import random
from functools import cache

from oracle.join import Row
from support.keys import KeyKind, key_of
from support.streams import START_US, Batch, Case

BATCHES = 8
STEP_US = 10_000_000
_DELAY_MS = 6_000
_KEYS = 6
_SIZES = (20, 25, 40, 60)
_SILENT = ((), (2,), (3,), (4,), (3, 4), (0, 1))
"""Micro-batches without rows."""
_KINDS: tuple[KeyKind, ...] = ("int64", "int64", "int32", "string")


@cache
def make_stream(seed: int) -> Case:
    """Return the stream of this seed, always the same."""
    rng = random.Random(seed)
    kind = _KINDS[seed % len(_KINDS)]
    silent = draw_silent(rng)
    now_us = START_US
    batches: list[Batch] = []
    for number in range(BATCHES):
        rows: Batch = ([], [])
        for side in (0, 1):
            for place in range(0 if number in silent else rng.choice(_SIZES)):
                chosen = min(rng.randrange(_KEYS), rng.randrange(_KEYS))
                time_us = draw_time(rng, now_us)
                payload = (100 * number + place, rng.choice((None, *range(-9, 10))))
                rows[side].append(Row(key_of(kind, chosen), time_us, payload))
        batches.append(rows)
        now_us += next_step(rng)
    return Case(
        seed=seed,
        batches=batches,
        before_us=rng.choice((6, 12, 18)) * 1_000_000,
        after_us=rng.choice((6, 12, 18)) * 1_000_000,
        delays_ms=(_DELAY_MS, _DELAY_MS),
        key_kind=kind,
        shards=1,
    )


def draw_silent(rng: random.Random) -> tuple[int, ...]:
    """Draw the numbers of the micro-batches without rows."""
    return rng.choice(_SILENT)


def draw_time(rng: random.Random, now_us: int) -> int:
    """Draw the event time of a row: in the next seconds, some before, or too late."""
    time_us, order = now_us + rng.randrange(STEP_US), rng.random()
    if order < 0.4:
        time_us -= rng.randrange(2 * STEP_US)
    return time_us - 2 * STEP_US if order < 0.05 else time_us


def next_step(rng: random.Random) -> int:
    """Draw how much time passes between two micro-batches, in microseconds."""
    return STEP_US * rng.choice((1, 1, 1, 2))
