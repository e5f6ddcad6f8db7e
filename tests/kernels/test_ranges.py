"""Sorted tiers: ranges of them, and merging two."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.ranges import (
    BLOCK,
    COLUMNS,
    KEY,
    LEAD,
    PLACE,
    TIME,
    Asked,
    Pairs,
    count_lags,
    meet,
    merge,
)
from shedjoin.types import IntGrid

VALUE = COLUMNS


def tier_of(rng: np.random.Generator, rows: int, keys: int = 3) -> IntGrid:
    """A sorted tier with one more column of values."""
    tier = rng.integers(-5, 6, (COLUMNS + 1, rows))
    tier[KEY] = rng.integers(0, keys, rows)
    tier[PLACE] = rng.permutation(rows)
    return np.ascontiguousarray(
        tier[:, np.lexsort((tier[PLACE], tier[LEAD], tier[KEY]))]
    )


def asked_of(rng: np.random.Generator, partials: int, *, outside: bool) -> Asked:
    """Two conditions beside key and lead; some ranges are empty."""

    def ends() -> IntGrid:
        low = rng.integers(-6, 6, (2, partials))
        return np.stack([low, low + rng.integers(-1, 8, (2, partials))])

    lead, others = ends()[:, 0], ends()
    return Asked(
        rng.integers(-1, 4, partials),
        lead[0].copy(),
        lead[1].copy(),
        np.array([TIME, VALUE]),
        np.array([True, not outside]),
        others[0].copy(),
        others[1].copy(),
    )


def expected(asked: Asked, tier: IntGrid) -> list[tuple[int, int]]:
    """Every partial result with every row."""
    found = []
    for partial, key in enumerate(asked.key.tolist()):
        for row in range(tier.shape[1]):
            fits = tier[KEY, row] == key
            fits &= asked.first[partial] <= tier[LEAD, row] <= asked.last[partial]
            for each, column in enumerate(asked.column):
                low, high = asked.low[each, partial], asked.high[each, partial]
                fits &= (low <= tier[column, row] <= high) == asked.inside[each]
            if fits:
                found.append((partial, row))
    return found


def met(asked: Asked, tier: IntGrid, room: int) -> list[tuple[int, int]]:
    """What the kernel finds, with so much room at a time."""
    pairs, found = Pairs.room(room), []
    at, row, looked = 0, 0, 0
    by_lead = np.lexsort((asked.first, asked.key))
    while at < asked.key.size:
        count, at, row, more = meet(asked, tier, by_lead, at, row, pairs)
        looked += more
        assert count < room + BLOCK
        both = (column[:count].tolist() for column in pairs)
        found += list(zip(*both, strict=True))
    assert looked == len(led(asked, tier))
    return sorted(found)


def led(asked: Asked, tier: IntGrid) -> list[tuple[int, int]]:
    """Partial results and rows of their key and lead: those that are looked at."""
    none = asked._replace(column=np.zeros(0, np.int64))
    return expected(none, tier)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("room", [1, 10, 10_000])
@pytest.mark.parametrize(("rows", "keys"), [(0, 3), (1, 3), (40, 3), (3 * BLOCK, 1)])
def test_meet_finds_every_row_in_its_ranges(
    rows: int, keys: int, room: int, outside: bool, rng: np.random.Generator
) -> None:
    tier, asked = tier_of(rng, rows, keys), asked_of(rng, 12, outside=outside)
    assert met(asked, tier, room) == expected(asked, tier)


def test_meet_without_conditions(rng: np.random.Generator) -> None:
    tier, asked = tier_of(rng, 50), asked_of(rng, 12, outside=False)
    none = np.zeros(0, np.int64)
    asked = asked._replace(
        column=none,
        inside=none.astype(np.bool_),
        low=asked.low[:0].copy(),
        high=asked.high[:0].copy(),
    )
    assert met(asked, tier, 100) == expected(asked, tier)


@pytest.mark.parametrize("spread", [1, 2, 6])
def test_lags_are_counted_by_bucket(spread: int, rng: np.random.Generator) -> None:
    """Also if rows lie in few of many buckets, or some of them in none."""
    tier, asked = tier_of(rng, 200), asked_of(rng, 12, outside=False)
    tier[TIME] //= 6 // spread
    time = rng.integers(-3, 12, 12)
    for edges in (np.array([-4, -1, 0, 0, 3, 6]), np.arange(-20, 30, 3)):
        counts = np.zeros(edges.size - 1)
        count_lags(asked, tier, 2, 12, time, edges, counts)
        lags = [
            int(time[partial] - tier[TIME, row])
            for partial, row in led(asked, tier)
            if partial >= 2
        ]
        ends = [*(edges[1:-1] - 1), edges[-1]]
        assert counts.tolist() == [
            sum(int(first) <= lag <= end for lag in lags)
            for first, end in zip(edges[:-1], ends, strict=True)
        ]
        assert counts.sum() > 20


@pytest.mark.parametrize(("one", "other"), [(0, 5), (5, 0), (1, 1), (30, 70)])
def test_merge_sorts(one: int, other: int, rng: np.random.Generator) -> None:
    both = tier_of(rng, one + other)
    mine = np.zeros(one + other, np.bool_)
    mine[rng.permutation(one + other)[:one]] = True
    merged = np.empty_like(both)
    merge(both[:, mine].copy(), both[:, ~mine].copy(), merged)
    assert (merged == both).all()
