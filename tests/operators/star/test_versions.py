"""Many versions of the same pairs of keys, in one micro-batch and over several."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

import numpy as np
import pytest

from shedjoin.columns.relating import Related
from shedjoin.operators.star.relation import Relation
from shedjoin.state.workspace import MemoryWorkspace

FOREVER = 1 << 50


class Change(NamedTuple):
    left: int
    right: int
    begin: int
    end: int
    deleted: bool


def related(changes: list[Change]) -> Related:
    table = np.array(changes, np.int64).T
    return Related(table[0], table[1], table[2], table[3], table[4] > 0)


def expected(history: list[list[Change]]) -> dict[tuple[int, int, int], int]:
    """End of every row by its keys and begin, from the definition."""
    ends: dict[tuple[int, int, int], int] = {}
    deletions: set[tuple[int, int, int]] = set()
    for changes in history:
        given: dict[tuple[int, int, int], int] = {}
        for left, right, begin, end, deleted in changes:
            if deleted:
                deletions.add((left, right, end))
            else:
                named = left, right, begin
                given[named] = min(end, given.get(named, end))
        for named, end in given.items():
            if named in ends or named[2] < end:
                ends[named] = end
        for named, end in ends.items():
            times = [t for *keys, t in deletions if (*keys,) == named[:2]]
            ends[named] = min([end, *(t for t in times if t > named[2])])
    return ends


@pytest.mark.parametrize("seed", range(40))
def test_rows_end_with_the_first_deletion_after_their_begin(seed: int) -> None:
    rng = random.Random(seed)
    relation, history = Relation(MemoryWorkspace(), 0, seed), []
    for _ in range(rng.randrange(1, 5)):
        changes = []
        for _ in range(rng.randrange(1, 30)):
            begin = rng.randrange(20)
            end = rng.choice((begin + rng.randrange(6), FOREVER))
            deleted = rng.random() < 0.4
            change = Change(rng.randrange(2), rng.randrange(3), begin, end, deleted)
            changes.append(change._replace(end=begin) if deleted else change)
        relation.apply(related(changes))
        history.append(changes)
    slots = np.arange(relation.count)
    rows = slots[~relation.deletions(slots)]
    columns = relation.keys(0), relation.keys(1), relation.begin, relation.end
    found = {
        (left, right, begin): end
        for left, right, begin, end in zip(
            *(each[rows].tolist() for each in columns), strict=True
        )
    }
    assert found == expected(history)
    assert rows.size == len(found)


def test_many_versions_of_one_pair_take_no_longer() -> None:
    times = range(20_000)
    changes = related(
        [Change(1, 1, t, t if t % 2 else FOREVER, t % 2 > 0) for t in times]
    )
    Relation(MemoryWorkspace(), 0, 0).apply(related([Change(1, 1, 0, 1, deleted=True)]))
    started = time.perf_counter()
    relation = Relation(MemoryWorkspace(), 0, 0)
    relation.apply(changes)
    assert time.perf_counter() - started < 2.0
    slots = np.arange(relation.count)
    rows = slots[~relation.deletions(slots)]
    assert (relation.end[rows] == relation.begin[rows] + 1).all()
