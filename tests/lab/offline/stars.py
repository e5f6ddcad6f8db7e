"""Small worlds of two streams and a relation, as archives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from oracle.star import ALWAYS, Fact, Row, World
from shedjoin.lab.offline import StarArchive

ON = (("a", "a"), ("b", "b"))

EXAMPLE = World(
    left=[
        Row(*row)
        for row in ((0, 1, 5), (1, 0, 1), (2, 1, 4), (3, 0, 8), (4, 2, 3), (5, 5, 2))
    ],
    right=[
        Row(*row)
        for row in ((0, 1, 1), (1, 3, 5), (2, 3, 2), (3, 8, 6), (4, 3, 4), (5, 5, 3))
    ],
    facts=[
        Fact(0, 3, -1),
        Fact(1, 5, -1),
        Fact(0, 8, -1),
        Fact(4, 5, -1),
        Fact(1, 3, -1, 5),
        Fact(5, 8, 3),
    ],
    before=3,
    after=3,
)
"""Figures 2 and 3 of the paper: m = 4."""


def archive_of(world: World) -> StarArchive:
    """A world with the same window on both sides."""
    assert world.before == world.after
    left, right = (
        stream(rows, key) for rows, key in ((world.left, "a"), (world.right, "b"))
    )
    return StarArchive(
        left,
        right,
        relation(world.facts),
        on=ON,
        within=world.after,
        importance="importance",
        valid=("begin", "end"),
    )


def stream(rows: Sequence[Row], key: str) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    whole, real = pa.int64(), pa.float64()
    names = {"time": whole, key: whole, "importance": real}
    return pa.table(
        {
            name: pa.array(list(column), kind)
            for (name, kind), column in zip(names.items(), columns, strict=True)
        }
    )


def relation(facts: Sequence[Fact]) -> pa.Table:
    def bound(values: list[float]) -> pa.Array:
        known = [None if abs(each) == ALWAYS else int(each) for each in values]
        return pa.array(known, pa.int64())

    return pa.table(
        {
            "a": pa.array([fact.left for fact in facts], pa.int64()),
            "b": pa.array([fact.right for fact in facts], pa.int64()),
            "begin": bound([fact.begin for fact in facts]),
            "end": bound([fact.end for fact in facts]),
        }
    )


def drawn(rng: np.random.Generator, rows: int = 6, instants: int = 6) -> World:
    """Few rows at few instants, several at some and none at others; few keys."""
    left, right = (
        [
            Row(
                int(rng.integers(instants)),
                int(rng.integers(3)),
                float(rng.integers(5)),
            )
            for _ in range(rng.integers(rows + 1))
        ]
        for _ in range(2)
    )
    changing = rng.random() < 0.6
    facts = [
        fact
        for pair in np.flatnonzero(rng.random(9) < 0.5).tolist()
        for fact in history(rng, *divmod(pair, 3), changing=changing)
    ]
    window = int(rng.integers(5))
    return World(left, right, facts, window, window)


def history(
    rng: np.random.Generator, left: int, right: int, *, changing: bool
) -> list[Fact]:
    """When a fact is active: always, for some time, or twice."""
    if not changing:
        return [Fact(left, right)]
    begin, end, again = np.sort(rng.choice(np.arange(-1, 8), 3, replace=False)).tolist()
    return [
        [Fact(left, right, end=again)],
        [Fact(left, right, begin)],
        [Fact(left, right, begin, end), Fact(left, right, end, again)],
        [Fact(left, right, end=begin), Fact(left, right, end)],
    ][rng.integers(4)]
