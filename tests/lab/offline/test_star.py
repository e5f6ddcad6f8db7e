"""The best memory for two streams and a relation, against all memories there are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oracle.star import World, outcomes, pairs, replayed, same_instant, total
from shedjoin.lab.offline import (
    Parts,
    StarArchive,
    StarOptimum,
    star_join,
    star_optimum,
)
from shedjoin.lab.offline.star_memory import Most
from shedjoin.lab.offline.star_side import Prefilter
from shedjoin.spec.shedding import Discipline

from .stars import EXAMPLE, archive_of, drawn

PREFILTERS: list[Prefilter] = ["matches", "relation", "none"]
DISCIPLINES: list[Discipline] = ["shed_then_probe", "probe_then_insert"]
GOALS: list[Most] = ["importance", "results"]


def parts_of(found: Parts) -> list[tuple[int, float]]:
    return [(part.size, part.importance) for part in found]


@pytest.mark.parametrize("prefilter", PREFILTERS)
def test_the_example_of_the_paper(prefilter: Prefilter) -> None:
    archive = archive_of(EXAMPLE)
    best = star_optimum(archive, rows=4, prefilter=prefilter)
    assert (best.size, best.importance) == (11, 38)
    assert parts_of(best.parts) == [(5, 18), (3, 11), (3, 9)]
    largest = star_optimum(archive, rows=4, most="results", prefilter=prefilter)
    assert (largest.size, largest.importance) == (12, 34)
    assert parts_of(largest.parts) == [(6, 14), (3, 11), (3, 9)]
    assert [
        star_optimum(archive, rows=rows, prefilter=prefilter).importance
        for rows in (2, 4, 6, 8)
    ] == [30, 38, 43, 43]
    probed = star_optimum(archive, rows=4, discipline="probe_then_insert")
    assert (probed.size, probed.importance) == (14, 42)


def test_the_example_without_shedding() -> None:
    exact = star_join(archive_of(EXAMPLE))
    assert (exact.size, exact.importance) == (15, 43)
    assert parts_of(exact)[2] == (3, 9)
    assert " ".join(f"{i}{j}" for i, j in pairs(EXAMPLE)) == (
        "01 02 11 12 13 14 21 22 24 25 31 32 33 34 53"
    )


def test_all_that_the_example_can_come_to() -> None:
    assert outcomes(EXAMPLE, 2, full=True) == {
        (3, 11),
        (4, 12),
        (4, 14),
        (4, 15),
        (5, 10),
        (5, 12),
        (5, 17),
        (5, 18),
        (6, 14),
        (6, 15),
    }
    assert outcomes(EXAMPLE.swapped(), 2, full=True) == {
        (2, 6),
        (2, 9),
        (3, 8),
        (3, 11),
    }


@pytest.mark.parametrize("window", [2, 4])
def test_other_windows_do_not_give_the_example(window: int) -> None:
    archive = archive_of(EXAMPLE._replace(before=window, after=window))
    exact = star_join(archive)
    assert (exact.size, exact.importance) != (15, 43)


@pytest.mark.parametrize("start", range(0, 500, 50))
def test_nothing_is_better(start: int) -> None:
    for seed in range(start, start + 50):
        rng = np.random.default_rng(seed)
        world = drawn(rng)
        capacity = int(rng.integers(4)), int(rng.integers(4))
        for discipline in DISCIPLINES:
            check(world, capacity, discipline, PREFILTERS[seed % 3])


def check(
    world: World,
    capacity: tuple[int, int],
    discipline: Discipline,
    prefilter: Prefilter,
) -> None:
    probe_first = discipline == "probe_then_insert"
    sides = [
        outcomes(each, room, probe_first=probe_first)
        for each, room in zip((world, world.swapped()), capacity, strict=True)
    ]
    archive = archive_of(world)
    for goal in GOALS:
        found = star_optimum(
            archive,
            rows=capacity,
            most=goal,
            discipline=discipline,
            prefilter=prefilter,
        )
        place = GOALS.index(goal) ^ 1
        for part, every in zip(found.parts, sides, strict=False):
            assert tuple(part) in every
            assert part[place] == max(outcome[place] for outcome in every)
        assert found.parts.same == same_instant(world)
        check_memory(world, found, capacity, probe_first=probe_first)


def check_memory(
    world: World, found: StarOptimum, capacity: tuple[int, int], *, probe_first: bool
) -> None:
    """The memory that is told is small enough, and finds what is told."""
    held = {now: found.kept_at(now) for now in world.instants()}
    for side, each in enumerate((world, world.swapped())):
        own = {now: set(both[side]) for now, both in held.items()}
        assert all(len(rows) <= capacity[side] for rows in own.values())
        assert replayed(each, own, probe_first=probe_first) == found.parts[side]


@pytest.mark.parametrize("seed", range(40))
def test_exact_join(seed: int) -> None:
    world = drawn(np.random.default_rng(seed), rows=30, instants=12)
    exact = star_join(archive_of(world))
    assert (exact.size, exact.importance) == total(world, pairs(world))
    assert exact.same == same_instant(world)
    everything = star_optimum(archive_of(world), rows=60)
    assert everything.parts == exact
    assert parts_of(star_optimum(archive_of(world), rows=1).parts)[:2] == [(0, 0)] * 2


def test_without_a_relation_keys_are_equal(rng: np.random.Generator) -> None:
    left, right = (
        pa.table({"time": np.arange(50), key: rng.integers(5, size=50)}) for key in "ab"
    )
    keys = pa.table({"a": range(5), "b": range(5)})
    through = StarArchive(left, right, keys, (("a", "a"), ("b", "b")), within=6)
    direct = StarArchive(left, right, None, ("a", "b"), within=6)
    assert star_join(direct) == star_join(through)
    one, other = (star_optimum(each, rows=(2, 3)) for each in (direct, through))
    assert one.parts == other.parts
    assert one.left.equals(other.left)


def test_a_run_repeats(rng: np.random.Generator) -> None:
    archive = archive_of(drawn(rng, rows=20, instants=9))
    one, other = (star_optimum(archive, rows=6) for _ in range(2))
    assert one.left.equals(other.left)
    assert one.right.equals(other.right)
