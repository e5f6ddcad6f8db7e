"""Two streams that join through a relation: every memory that there could be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

ALWAYS = float("inf")

Outcome = tuple[int, float]


class Row(NamedTuple):
    time: int
    key: int
    importance: float = 1.0


class Fact(NamedTuple):
    left: int
    right: int
    begin: float = -ALWAYS
    end: float = ALWAYS

    def active(self, time: int) -> bool:
        return self.begin <= time < self.end


class World(NamedTuple):
    """Right rows match from ``before`` earlier to ``after`` later than left ones."""

    left: list[Row]
    right: list[Row]
    facts: list[Fact]
    before: int
    after: int

    def swapped(self) -> World:
        facts = [Fact(f.right, f.left, f.begin, f.end) for f in self.facts]
        return World(self.right, self.left, facts, self.after, self.before)

    def match(self, left: Row, right: Row) -> bool:
        return -self.before <= right.time - left.time <= self.after and any(
            fact.left == left.key
            and fact.right == right.key
            and fact.active(left.time)
            and fact.active(right.time)
            for fact in self.facts
        )

    def instants(self) -> list[int]:
        return sorted({row.time for row in (*self.left, *self.right)})


def pairs(world: World) -> list[tuple[int, int]]:
    """The exact join, as numbers of rows."""
    return [
        (i, j)
        for i, left in enumerate(world.left)
        for j, right in enumerate(world.right)
        if world.match(left, right)
    ]


def total(world: World, some: list[tuple[int, int]]) -> Outcome:
    return len(some), sum(
        min(world.left[i].importance, world.right[j].importance) for i, j in some
    )


def same_instant(world: World) -> Outcome:
    return total(
        world,
        [(i, j) for i, j in pairs(world) if world.left[i].time == world.right[j].time],
    )


def outcomes(
    world: World, capacity: int, *, probe_first: bool = False, full: bool = False
) -> set[Outcome]:
    """Size and importance of what left rows in memory find, for all ways to shed.

    At each instant any of the rows that are held or come are kept. ``full``: as many as
    fit, of those that the relation lets in, as in the paper.
    """
    ways: set[tuple[frozenset[int], int, float]] = {(frozenset(), 0, 0.0)}
    for now in world.instants():
        following = set()
        for held, size, importance in ways:
            there = {i for i in held if now - world.left[i].time <= world.after}
            come = {
                i
                for i, row in enumerate(world.left)
                if row.time == now and (not full or allowed(world, row))
            }
            for kept in choices(there | come, capacity, full=full):
                probed = there if probe_first else kept - come
                more = total(world, found(world, probed, now))
                following.add((kept, size + more[0], importance + more[1]))
        ways = following
    return {(size, importance) for _, size, importance in ways}


def allowed(world: World, row: Row) -> bool:
    return any(fact.left == row.key and fact.active(row.time) for fact in world.facts)


def choices(
    rows: set[int], capacity: int, *, full: bool = False
) -> Iterator[frozenset[int]]:
    most = min(capacity, len(rows))
    for size in range(most if full else 0, most + 1):
        yield from map(frozenset, combinations(sorted(rows), size))


def found(
    world: World, held: set[int] | frozenset[int], now: int
) -> list[tuple[int, int]]:
    """Matches of rows that are held with arrivals of an instant."""
    return [
        (i, j)
        for i in held
        for j, row in enumerate(world.right)
        if row.time == now
        and world.left[i].time < now
        and world.match(world.left[i], row)
    ]


def replayed(
    world: World, held_at: dict[int, set[int]], *, probe_first: bool = False
) -> Outcome:
    """What left rows find that are held after each instant; the memory must be one."""
    some: list[tuple[int, int]] = []
    before: set[int] = set()
    for now in world.instants():
        come = {i for i, row in enumerate(world.left) if row.time == now}
        assert held_at[now] <= before | come, "rows that have left do not come back"
        some += found(world, before if probe_first else held_at[now] - come, now)
        before = held_at[now]
    return total(world, some)
