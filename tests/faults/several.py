"""Joins of three streams by key, and joins by a band of two streams or three."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pyarrow as pa

from shedjoin import Band, Budget, MostImportant, local, policies
from support.keys import KeyKind, key_fields, key_of
from support.streams import START_US, TIME_TYPE

from .pairs import BLOBS
from .queries import Query, once
from .streams import BATCHES, draw_silent, draw_time, next_step

_KEYS, _VALUES = 5, 30
_SIZES = (6, 9, 14, 20)
_KEY_KINDS: tuple[KeyKind, ...] = ("int64", "string", "int64", "int32")
_VALUE_TYPES = (pa.int64(), pa.float64(), pa.int32())
_WAITS_S = (6, 12, 18)
BUDGETS = (
    Budget(rows=25),
    Budget(rows=40),
    Budget(memory="8 kB"),
)
_KEPT = (
    None,
    policies.Fifo(),
    MostImportant("worth", by=policies.Greedy()),
    policies.Prob(),
)
_HARVESTED = (None, policies.RandomDrop())
SHARES = (0.5, 0.2, 0.05, 1.0)
"""How much of its work a throttled join does, one micro-batch after the other."""


@cache
def make_streams(seed: int, names: str) -> list[dict[str, pa.Table]]:
    """Return the micro-batches of these streams, always the same."""
    rng = random.Random(f"{seed} {names}")
    silent = draw_silent(rng)
    now_us, batches = START_US, []
    for number in range(BATCHES):
        sizes = [0 if number in silent else rng.choice(_SIZES) for _ in names]
        batches.append(
            {
                name: _table(rng, seed, f"{name}{number}", size, now_us)
                for name, size in zip(names, sizes, strict=True)
            }
        )
        now_us += next_step(rng)
    return batches


def _table(
    rng: random.Random, seed: int, place: str, size: int, now_us: int
) -> pa.Table:
    name, key_kind = place[0], _KEY_KINDS[seed % len(_KEY_KINDS)]
    keys = [key_of(key_kind, rng.randrange(_KEYS))[0] for _ in range(size)]
    values = [rng.randrange(_VALUES) for _ in range(size)]
    times = [draw_time(rng, now_us) for _ in range(size)]
    return pa.table(
        {
            "k": pa.array(keys, key_fields(key_kind)[0][1]),
            "x": pa.array(values, _VALUE_TYPES[seed % len(_VALUE_TYPES)]),
            f"t_{name}": pa.array(times, TIME_TYPE),
            "id": pa.array([f"{place}-{row}" for row in range(size)], pa.string()),
            "worth": pa.array([rng.randrange(9) for _ in range(size)], pa.int32()),
        }
    )


def several(seed: int, names: str, on: Any) -> Callable[..., local.Run]:  # noqa: ANN401
    """Join these streams on something; budget and policy are left open."""
    return partial(
        local.multijoin,
        make_streams(seed, names),
        on=on,
        within={
            name: f"{_WAITS_S[(seed + place) % len(_WAITS_S)]} seconds"
            for place, name in enumerate(names)
        },
        time={name: f"t_{name}" for name in names},
        lateness="6 seconds",
        blobs=BLOBS,
    )


def three(seed: int) -> Callable[..., local.Run]:
    """Join three streams by key."""
    return several(seed, "abc", "k")


def band(seed: int) -> Callable[..., local.Run]:
    """Join two streams or three by a band, with a key or without."""
    if seed % 3 == 0:
        return several(seed, "abc", Band("x", 1))
    return several(seed, "ab", ["k", Band("x", 6)] if seed % 3 == 1 else Band("x", 2))


def three_exact(stream: int, *, other: bool) -> Query:
    """Return an exact join of three streams; there is no ``other`` one."""
    del other
    return once(three(stream))


def three_budgeted(stream: int, *, other: bool) -> Query:
    """Return a join of three streams with a memory budget."""
    return once(three(stream), **kept(stream, other=other))


def band_exact(stream: int, *, other: bool) -> Query:
    """Return an exact join by a band; there is no ``other`` one."""
    del other
    return once(band(stream))


def band_budgeted(stream: int, *, other: bool) -> Query:
    """Return a join by a band with a memory budget."""
    return once(band(stream), **kept(stream, other=other))


def band_throttled(stream: int, *, other: bool) -> Query:
    """Return a join by a band; messages change how much of its work it does."""
    keep = _HARVESTED[(stream + other) % len(_HARVESTED)]
    control = {
        number: [{"throttle": {"share": SHARES[(stream + number) % len(SHARES)]}}]
        for number in range(stream % 2, BATCHES, 1 + stream % 3)
    }
    options = {"budget": Budget(cpu=0.5), "keep": keep, "control": control}
    return Query(band(stream), {0: options}, steered=True)


def kept(stream: int, *, other: bool) -> dict[str, Any]:
    """Choose budget and policy; ``other`` has another policy."""
    keep = policies.Rand() if other else _KEPT[stream % len(_KEPT)]
    return {"budget": BUDGETS[stream // 2 % len(BUDGETS)], "keep": keep}
