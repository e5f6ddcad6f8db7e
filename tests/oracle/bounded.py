"""A join of several streams under a memory budget, row by row, slow and obvious."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import inf
from typing import NamedTuple

from oracle.predicates import Batch, Join, Row


class Resident(NamedTuple):
    """A row that is there: its stream, and how many rows arrived before it."""

    name: str
    row: Row
    number: int


Score = Callable[[Resident], tuple[float, int]]
"""Worth of a resident, and who leaves first among equals; the lowest leaves."""


class Rules(NamedTuple):
    """How many rows may stay, the least rows of a block, and what a row is worth."""

    rows: int
    least: int
    score: Score
    worth: Callable[[Resident], float]


class Outcome(NamedTuple):
    """What a micro-batch gave; ``residents`` and ``shed`` are in the streams' order."""

    results: Counter[object]
    importance: float
    residents: tuple[int, ...]
    shed: tuple[int, ...]


def bounded_join(
    batches: Sequence[Batch], join: Join, rules: Rules
) -> Iterator[Outcome]:
    """Take arrivals in blocks, by time; after each, who is worth least leaves."""
    names = list(join.keep_s)
    there: list[Resident] = []
    reached: dict[str, int] = {}
    latest: dict[str, int] = {}
    clock_s = -inf
    late_s = watermark_s = number = 0
    for batch in batches:
        usable = [
            (row.time_s, names.index(name), name, row)
            for name in names
            for row in batch[name]
            if all(row.values[column] is not None for column in join.named[name])
        ]
        taken = sorted(
            (each for each in usable if each[0] > late_s), key=lambda each: each[:2]
        )
        results: Counter[object] = Counter()
        importance, shed = 0.0, Counter[str]()
        while taken:
            count = max(0, rules.rows - len(there)) + max(rules.rows // 8, rules.least)
            block, taken = taken[:count], taken[count:]
            new = []
            for _, _, name, row in block:
                new.append(Resident(name, row, number))
                number += 1
            for name in names:
                mine = [one for one in new if one.name == name]
                for found in _results(names, mine, there, join):
                    results[tuple(one.row.id for one in found)] += 1
                    importance += min(map(rules.worth, found))
                there += mine
            for time_s, _, name, _ in block:
                latest[name] = max(latest.get(name, time_s), time_s)
            clock_s = max(clock_s, _clock(names, latest, watermark_s, join))
            # Who is out of time at the clock goes first.
            there.sort(
                key=lambda r: (
                    clock_s - r.row.time_s <= join.keep_s[r.name],
                    rules.score(r),
                )
            )
            gone = max(0, len(there) - rules.rows)
            shed.update(one.name for one in there[:gone])
            there = there[gone:]
        there = [r for r in there if r.row.time_s + join.keep_s[r.name] > watermark_s]
        count_of = Counter(one.name for one in there)
        yield Outcome(
            results,
            importance,
            tuple(count_of[name] for name in names),
            tuple(shed[name] for name in names),
        )
        late_s = watermark_s
        for time_s, _, name, _ in usable:
            least = time_s - join.delay_s[name]
            reached[name] = max(reached.get(name, least), least)
        watermark_s = max(watermark_s, min(reached.get(name, 0) for name in names))


def _clock(
    names: list[str], latest: dict[str, int], watermark_s: int, join: Join
) -> float:
    """The latest time, but little more than what all streams have reached."""
    reached = min(latest.get(name, -inf) for name in names)
    lead_s = max(join.keep_s.values()) / 16
    return min(max(latest.values()), max(watermark_s, reached) + lead_s)


def _results(
    names: list[str], mine: list[Resident], there: list[Resident], join: Join
) -> Iterator[tuple[Resident, ...]]:
    """Every combination of an arrival with residents of all other streams."""
    for arrival in mine:
        each = [
            [arrival] if name == arrival.name else [r for r in there if r.name == name]
            for name in names
        ]
        for found in product(*each):
            latest = max(one.row.time_s for one in found)
            waits = (latest - r.row.time_s <= join.keep_s[r.name] for r in found)
            if all(waits) and join.holds({r.name: r.row for r in found}):
                yield found
