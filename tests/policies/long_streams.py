"""Streams of realistic size, and their exact join by nothing but sorting."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from shedjoin import Within, local
from shedjoin.types import IntArray
from support.sides import SIDES, Side

Shape: TypeAlias = Literal["many", "single", "none", "hot", "mixed", "late"]
"""Matches of a block: thousands of many keys, one here and there, none, more than there
is room for at once, all of these in turn; and a stream of which some rows are late."""
Keys: TypeAlias = Literal["integer", "string", "composite"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
KEYS: tuple[Keys, ...] = get_args(Keys)

NAMES = ("left", "right")
TIMES = ("left_time", "right_time")
BEFORE_US, AFTER_US = 40_000_000, 60_000_000
WITHIN = Within(before="40 seconds", after="60 seconds")
LATENESS = ("3 seconds", "3 seconds")
_START_US = 1_700_000_000_000_000
_SPAN_US = 600_000_000
_SLICE_US = 20_000_000
_STEPS_US = (1, 1_000, 100_000, 1_000_000)
_SOME = 0.5
_BURST = 7


class Stream(NamedTuple):
    """Two streams, by row number, and the pairs of their exact join.

    ``pairs`` are sorted; a pair is one number, see :func:`paired`.
    """

    rows: tuple[pa.Table, pa.Table]
    batches: list[tuple[pa.Table, pa.Table]]
    on: str | list[str]
    pairs: IntArray


class _Drawn(NamedTuple):
    """Arrivals of both sides in the order in which they come."""

    side: IntArray
    key: IntArray
    time_us: IntArray


@lru_cache(maxsize=24)
def long_stream(shape: Shape, keys: Keys, seed: int) -> Stream:
    """Draw a stream of 50,000 rows or more, in 3 to 40 micro-batches."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    drawn = _draw(rng, shape)
    place = [np.flatnonzero(drawn.side == side) for side in SIDES]
    left, right = (_table(drawn, place[side], side, keys) for side in SIDES)
    cuts = np.sort(rng.integers(0, drawn.key.size, rng.geometric(0.1) % 38 + 2))
    edges = [np.searchsorted(mine, [0, *cuts, drawn.key.size]) for mine in place]
    batches = [
        (left.slice(a, b - a), right.slice(c, d - c))
        for (a, b), (c, d) in zip(*map(pairwise, edges), strict=True)
    ]
    on = ["key", "part"] if keys == "composite" else "key"
    stream = Stream((left, right), batches, on, _exact(drawn, place))
    return stream._replace(pairs=on_time(stream)) if shape == "late" else stream


def paired(left: IntArray, right: IntArray) -> IntArray:
    """Pairs of row numbers as one number each."""
    return (left << 32) | right


def on_time(stream: Stream) -> IntArray:
    """Pairs of the join without a budget: Spark's rule says which rows are late."""
    run = local.join(
        stream.batches, on=stream.on, within=WITHIN, time=TIMES, lateness=LATENESS
    )
    found = np.sort(paired(*(run.results[name].to_numpy() for name in NAMES)))
    assert run.report.late[0]
    assert run.report.late[1]
    assert np.isin(found, stream.pairs).all()
    return found


def _exact(drawn: _Drawn, place: list[IntArray]) -> IntArray:
    """Pairs within the window: for each left row a range of the sorted right rows.

    All rows lie on one number line, the keys one after the other and far apart.
    """
    _, rank = np.unique(drawn.key, return_inverse=True)
    since_us = drawn.time_us - drawn.time_us.min()
    line = rank * (int(since_us.max()) + BEFORE_US + AFTER_US + 1) + since_us
    left, right = (line[mine] for mine in place)
    order = np.argsort(right)
    first = np.searchsorted(right[order], left - BEFORE_US, side="left")
    count = np.searchsorted(right[order], left + AFTER_US, side="right") - first
    before = np.repeat(np.cumsum(count) - count, count)
    partner = np.repeat(first, count) + np.arange(count.sum()) - before
    return np.sort(paired(np.repeat(np.arange(left.size), count), order[partner]))


def _draw(rng: np.random.Generator, shape: Shape) -> _Drawn:
    count = int(rng.integers(50_000, 55_000))
    step_us = int(rng.choice(_STEPS_US))
    clock = np.sort(rng.integers(0, _SPAN_US // step_us, count)) * step_us
    if shape == "mixed":  # everything expires before the second half
        clock[count // 2 :] += 2 * (BEFORE_US + AFTER_US)
    side = (rng.random(count) < rng.choice([0.3, 0.5])).astype(np.int64)
    key = _keys(rng, shape, side, clock)
    if shape == "late":
        clock -= rng.exponential(2_500_000, count).astype(np.int64)
    elif shape != "none" and rng.random() < _SOME:
        clock -= rng.integers(0, 1_900_000, count)
    return _Drawn(side, key, _START_US + clock // step_us * step_us)


def _keys(
    rng: np.random.Generator, shape: Shape, side: IntArray, clock: IntArray
) -> IntArray:
    """Keys of arrivals; those that shall match nothing are negative."""
    count = side.size
    alone = -1 - np.arange(count)
    weight = np.arange(1.0, 4001.0) ** -0.5
    drawn = rng.choice(4000, count, p=weight / weight.sum())
    if shape in ("many", "late"):
        return drawn
    if shape == "none":  # the same keys again, but when it is too late, by a hair
        part = clock // _SLICE_US - 4 * side
        same = 1_000_000 + 1000 * part + np.arange(count) % 50
        return np.where(rng.random(count) < _SOME, same, alone)
    single = alone.copy()
    earlier = rng.integers(0, count - 200, int(10 ** rng.uniform(1.0, 3.2)))
    later = earlier + rng.integers(1, 200, earlier.size)
    single[later] = single[earlier]
    if shape == "single":
        return single
    burst = (clock // _SLICE_US) % (2 * _BURST + 1) == _BURST
    hot = np.where(burst & (rng.random(count) < _SOME), 0, single)
    if shape == "hot":
        return hot
    turn = np.arange(count) * 8 // count
    return np.choose(turn % 4, [single, drawn, alone, hot])


def _table(drawn: _Drawn, mine: IntArray, side: Side, keys: Keys) -> pa.Table:
    """Rows of one side; each column is another one's or the row number's image."""
    name, key = NAMES[side], drawn.key[mine]
    number = np.arange(mine.size)
    columns = {"key": pa.array(key)}
    if keys == "string":
        columns = {"key": pa.array(key).cast(pa.string())}
    elif keys == "composite":
        part = pa.array(key % 7).cast(pa.string())
        columns = {"key": pa.array(key // 7), "part": part}
    return pa.table(
        {
            **columns,
            TIMES[side]: pa.array(drawn.time_us[mine], pa.timestamp("us", "UTC")),
            name: number,
            f"{name}_value": np.sin(number + side),
            f"{name}_text": pa.array(number * 977 % 1_000_003).cast(pa.string()),
            f"{name}_importance": pa.array(1.0 + number % 9, mask=number % 11 == 0),
        }
    )
