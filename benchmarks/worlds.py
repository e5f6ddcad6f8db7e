"""Workloads whose truth is known: what the exact join would find, and why rows match.

All last three windows. What the exact join finds is counted with sorted arrays, since
it may be more than memory holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin import local
from shedjoin.columns.sizes import row_sizes
from shedjoin.lab.workloads.markets import auctions, impressions
from shedjoin.lab.workloads.rows import Batches
from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.local.streams import START_US
from shedjoin.models.curve import priorities
from shedjoin.policies import Fifo, Policy, Residents
from shedjoin.types import FloatArray, IntArray

WINDOWS = 3
_SECOND_US = 1_000_000
Columns: TypeAlias = tuple[IntArray, IntArray, FloatArray]
"""Key, time and importance of the rows of one side."""


@dataclass(frozen=True, slots=True)
class World:
    """Two streams, the join that belongs to them, and a policy that knows the truth."""

    name: str
    make: Callable[[int, int], tuple[Batches, Policy]]
    """Give the micro-batches for a number of them and a seed."""
    key: str
    times: tuple[str, str]
    reach_s: tuple[int, int]
    importance: str
    in_bytes: bool = False
    windows: int = WINDOWS
    """Length of the streams."""

    @property
    def reach_us(self) -> tuple[int, int]:
        """How long a left and a right row can be matched."""
        return self.reach_s[0] * _SECOND_US, self.reach_s[1] * _SECOND_US

    @property
    def seconds(self) -> int:
        return self.windows * max(self.reach_s)

    def halved(self) -> World:
        """Return the same streams with half the window, so with twice as many."""
        before, after = self.reach_s
        return replace(
            self, reach_s=(before // 2, after // 2), windows=2 * self.windows
        )


@dataclass(frozen=True, slots=True)
class Truth:
    """What the exact join finds in each micro-batch, and what it holds."""

    results: IntArray
    importance: FloatArray
    rows: float
    bytes: float
    warm: int
    """Micro-batches that begin before the first window has filled."""


def truth_of(world: World, batches: Batches) -> Truth:
    """Count what the exact join finds and holds."""
    sides = [_columns(world, batches, side) for side in (0, 1)]
    ends = np.array([[b[side].num_rows for b in batches] for side in (0, 1)]).cumsum(1)
    results = np.zeros(len(batches), np.int64)
    importance = np.zeros(len(batches))
    for side in (0, 1):
        # A pair is found by its later row; of two at once, by the left one.
        count, worth = _earlier(sides[side], sides[1 - side], world, side)
        cuts = np.concatenate([[0], ends[side][:-1]])
        full = np.flatnonzero(np.diff(np.append(cuts, ends[side][-1])))
        results[full] += np.add.reduceat(count, cuts[full])
        importance[full] += np.add.reduceat(worth, cuts[full])
    span = world.seconds * _SECOND_US
    closing = START_US + span * np.arange(1, len(batches) + 1) // len(batches)
    warm = int(np.searchsorted(closing, START_US + max(world.reach_us)))
    rows, size = _held(world, batches, closing[warm:])
    return Truth(results, importance, rows, size, warm)


def _columns(world: World, batches: Batches, side: int) -> Columns:
    table = pa.concat_tables([batch[side] for batch in batches])
    key = table.column(world.key).to_numpy()
    time = table.column(world.times[side]).cast(pa.int64()).to_numpy()
    worth = np.zeros(key.size)
    if world.importance in table.column_names:
        worth = table.column(world.importance).to_numpy()
    return key, time, worth


def _earlier(
    own: Columns, other: Columns, world: World, side: int
) -> tuple[IntArray, FloatArray]:
    """Count the earlier rows of the other side that each row matches, and their worth.

    Only rows of the left side have an importance, which is that of the result.
    """
    keys, rank = np.unique(np.concatenate([own[0], other[0]]), return_inverse=True)
    reach = world.reach_us[1 - side]
    span = int(max(own[1].max(), other[1].max()) - START_US) + reach + 2
    line = rank.astype(np.int64) * span
    mine = line[: own[0].size] + own[1] - START_US
    theirs = line[own[0].size :] + other[1] - START_US
    order = np.argsort(theirs, kind="stable")
    theirs = theirs[order]
    last = np.searchsorted(theirs, mine, "right" if side == 0 else "left")
    first = np.searchsorted(theirs, mine - np.minimum(reach, own[1] - START_US), "left")
    del keys
    count = np.maximum(last - first, 0)
    if side == 0:
        return count, count * own[2]
    total = np.concatenate([[0.0], np.cumsum(other[2][order])])
    return count, np.where(count > 0, total[last] - total[first], 0.0)


def _held(world: World, batches: Batches, ends: IntArray) -> tuple[float, float]:
    """Rows and bytes that the window holds at these times, on average."""
    rows = size = 0.0
    for side in (0, 1):
        reach = world.reach_us[side]
        if not reach:
            continue
        table = pa.concat_tables([batch[side] for batch in batches]).combine_chunks()
        time = table.column(world.times[side]).cast(pa.int64()).to_numpy()
        first, last = (np.searchsorted(time, each) for each in (ends - reach, ends))
        rows += float((last - first).mean())
        sizes = np.concatenate([[0], np.cumsum(row_sizes(table.to_batches()[0]))])
        size += float((sizes[last] - sizes[first]).mean())
    return rows, size


@dataclass(frozen=True, slots=True)
class TrueRates(Policy):
    """Keep the rows whose keys come most often on the other stream, as is known.

    Per byte, where bytes are limited.
    """

    rate: Callable[[Residents], FloatArray]

    dynamic: ClassVar[bool] = True

    def score(self, residents: Residents) -> FloatArray:
        return self.rate(residents) / residents.size


@dataclass(frozen=True, slots=True)
class _Zipf:
    """True frequencies of the moment; both streams have the same."""

    truth: Frequencies
    known: dict[int, FloatArray] = field(default_factory=dict, compare=False)

    def __call__(self, rows: Residents) -> FloatArray:
        epoch = self.truth.epoch(rows.now_us)
        if epoch not in self.known:
            self.known.clear()
            self.known[epoch] = self.truth.at(0, rows.now_us)
        return self.known[epoch][rows.key]


@dataclass(frozen=True, slots=True)
class _OfKey:
    """A rate for each key, times one for each age of a left row."""

    by_key: FloatArray
    by_age: FloatArray

    def __call__(self, rows: Residents) -> FloatArray:
        place = rows.age_us * self.by_age.size // max(1, rows.keep_us[0])
        place = place.clip(0, self.by_age.size - 1)
        found: FloatArray = self.by_key[rows.key] * self.by_age[place]
        return found


def _zipf(z: float, drift: float, rows: int) -> Callable[..., tuple[Batches, Policy]]:
    def make(batches: int, seed: int) -> tuple[Batches, Policy]:
        truth = Frequencies(2 * rows, z, drift_s=100, drift_part=drift, seed=seed)
        streams = zipf(
            truth, rows=WINDOWS * rows, seconds=900, batches=batches, seed=seed
        )
        return streams, TrueRates(_Zipf(truth))

    return make


def _impressions(rows: int) -> Callable[..., tuple[Batches, Policy]]:
    def make(batches: int, seed: int) -> tuple[Batches, Policy]:
        truth: dict[str, FloatArray] = {}
        streams = impressions(
            impressions=WINDOWS * rows,
            users=rows // 2,
            seconds=2700,
            batches=batches,
            seed=seed,
            into_truth=truth,
        )
        return streams, TrueRates(_OfKey(truth["clicks"], np.ones(1)))

    return make


def _clicks(rows: int) -> Callable[..., tuple[Batches, Policy]]:
    def make(batches: int, seed: int) -> tuple[Batches, Policy]:
        streams = local.clicks(
            impressions=WINDOWS * rows, batches=batches, seed=seed, seconds=2700
        )
        return streams, Fifo()  # delays are exponential: the younger the better

    return make


def _auctions(rows: int) -> Callable[..., tuple[Batches, Policy]]:
    def make(batches: int, seed: int) -> tuple[Batches, Policy]:
        truth: dict[str, FloatArray] = {}
        streams = auctions(
            auctions=WINDOWS * rows,
            seconds=1800,
            batches=batches,
            seed=seed,
            into_truth=truth,
        )
        best = priorities(np.linspace(0.0, 1.0, 256) ** 2)
        return streams, TrueRates(_OfKey(truth["popularity"], best))

    return make


def _sized(
    make: Callable[..., tuple[Batches, Policy]], told: str = "", power: float = 0.0
) -> Callable[..., tuple[Batches, Policy]]:
    """The same with another column of text whose length is log-normal.

    With a power, size tells of matches: the text of a left row is longer by (1 + n) to
    that power, where n rows of the right stream have its key, the column ``told``.
    """

    def made(batches: int, seed: int) -> tuple[Batches, Policy]:
        streams, policy = make(batches, seed)
        rng = np.random.default_rng([seed, 77])
        if not power:
            return [(_longer(a, rng), _longer(b, rng)) for a, b in streams], policy
        keys = [[each[told].to_numpy() for each in batch] for batch in streams]
        keys_of = [np.concatenate(side) for side in zip(*keys, strict=True)]
        most = 1 + max(int(side.max()) for side in keys_of)
        times = (1.0 + np.bincount(keys_of[1], minlength=most)) ** power
        return [
            (_longer(a, rng, times[key]), _longer(b, rng))
            for (a, b), (key, _) in zip(streams, keys, strict=True)
        ], policy

    return made


def _longer(
    table: pa.Table, rng: np.random.Generator, times: FloatArray | float = 1.0
) -> pa.Table:
    length = np.minimum(times * rng.lognormal(4.0, 1.5, table.num_rows), 20_000)
    ends = np.concatenate([[0], np.cumsum(length.astype(np.int32))]).astype(np.int32)
    letters = np.full(int(ends[-1]), ord("x"), np.uint8)
    text = pa.StringArray.from_buffers(
        table.num_rows, pa.py_buffer(ends), pa.py_buffer(letters)
    )
    return table.append_column("text", text)


def worlds(rows: int) -> dict[str, World]:
    """All workloads with about so many rows of a stream in a window."""
    zipfs = {
        "zipf 0.8": _zipf(0.8, 0.0, rows),
        "zipf 0.8 drifting": _zipf(0.8, 0.2, rows),
        "zipf 1": _zipf(1.0, 0.0, rows),
        "zipf 1 drifting": _zipf(1.0, 0.2, rows),
        "zipf 0.8 sized": _sized(_zipf(0.8, 0.0, rows)),
    }
    times = "left_time", "right_time"
    shown = "shown_at", "clicked_at"
    found: list[tuple[Any, ...]] = [
        (name, make, "key", times, (300, 300), "left_value", name.endswith("sized"))
        for name, make in zipfs.items()
    ]
    open_at = "opened_at", "bid_at"
    shown_to = "user_id", shown, (900, 0), "price"
    clicked = "ad_id", shown, (900, 0), "bid"
    sold = "auction_id", open_at, (600, 0), "reserve"
    found += [
        ("impressions", _impressions(2 * rows), *shown_to),
        ("impressions sized", _sized(_impressions(2 * rows)), *shown_to, True),
        ("clicks", _clicks(2 * rows), *clicked),
        ("clicks sized", _sized(_clicks(2 * rows)), *clicked, True),
        (
            "clicks telling sized",
            _sized(_clicks(2 * rows), "ad_id", 4.0),
            *clicked,
            True,
        ),
        ("auctions", _auctions(rows), *sold),
        ("auctions sized", _sized(_auctions(rows)), *sold, True),
    ]
    return {row[0]: World(*row) for row in found}


@lru_cache(maxsize=1)
def world_at(
    name: str, rows: int, batches: int, seed: int
) -> tuple[World, Batches, Policy, Truth]:
    """Make one workload, with its truth; the last one is remembered."""
    world = worlds(rows)[name]
    streams, informed = world.make(batches, seed)
    return world, streams, informed, truth_of(world, streams)
