"""Who leaves next, against sorting all residents anew every time."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.candidates import (
    defer,
    expect,
    has_expired,
    leaves_before,
    mature,
    newest_deferred,
    next_expired,
    would_be_next,
)
from shedjoin.kernels.slots import NOBODY

from .crowd import SLOTS, Crowd

POOLS = [(1, 0), (-1, 0), (1, 1), (-1, 1)]


@pytest.mark.parametrize(("tie", "pool"), POOLS)
@pytest.mark.parametrize("count", [1, 3, SLOTS])
def test_the_lowest_leaves_whatever_happened_before(
    tie: int, pool: int, count: int, rng: np.random.Generator
) -> None:
    crowd = Crowd(tie, pool, room=6)
    others = crowd.candidates.pools[1 - pool].copy()
    for _ in range(250):
        step = rng.random()
        if len(crowd.slot) < SLOTS and step < 0.5:
            crowd.offer(crowd.come(float(rng.integers(4))))
        elif crowd.slot and step < 0.6:
            crowd.leave(int(rng.choice(list(crowd.slot))))
        elif crowd.slot:
            lowest = min(crowd.slot, key=crowd.rank)
            if crowd.facts["overfull"]:
                crowd.fill(count)
            bar = float(crowd.facts["bar_score"]), tie * int(crowd.facts["bar_number"])
            found = crowd.next()
            if found == NOBODY:
                assert bar[0] == -np.inf or crowd.rank(lowest) > bar
                crowd.fill(count)
                found = crowd.next()
            assert found == lowest
            crowd.leave(found)
    assert crowd.candidates.pools[1 - pool] == others


@pytest.mark.parametrize(("tie", "pool"), POOLS)
def test_a_heap_is_emptied_in_order(
    tie: int, pool: int, rng: np.random.Generator
) -> None:
    for _ in range(20):
        crowd = Crowd(tie, pool)
        crowd.facts["bar_score"] = np.inf
        for _ in range(SLOTS):
            crowd.offer(crowd.come(float(rng.integers(8))))
        for expected in sorted(crowd.slot, key=crowd.rank):
            assert crowd.next() == expected


@pytest.mark.parametrize("tie", [1, -1])
def test_equal_scores_leave_by_number(tie: int) -> None:
    assert leaves_before(1.0, 5, 2.0, 3, tie)
    assert not leaves_before(2.0, 3, 1.0, 5, tie)
    assert leaves_before(1.0, 3, 1.0, 5, tie) == (tie == 1)
    assert leaves_before(1.0, 5, 1.0, 3, tie) == (tie == -1)
    assert not leaves_before(1.0, 3, 1.0, 3, tie)


@pytest.mark.parametrize(("tie", "pool"), POOLS)
def test_a_heap_without_room_says_so(tie: int, pool: int) -> None:
    crowd = Crowd(tie, pool, room=3)
    crowd.facts["bar_score"], crowd.facts["bar_number"] = 5.0, 100
    for score in (1.0, 9.0, 2.0, 6.0, 3.0):  # two are above the bar
        crowd.offer(crowd.come(score))
    assert not crowd.facts["overfull"]
    crowd.offer(crowd.come(4.0))
    assert crowd.facts["overfull"]


@pytest.mark.parametrize(("tie", "pool"), POOLS)
def test_only_who_would_leave_before_all_candidates_is_next(
    tie: int, pool: int, rng: np.random.Generator
) -> None:
    for _ in range(60):
        crowd = Crowd(tie, pool)
        for _ in range(int(rng.integers(5))):
            crowd.come(float(rng.integers(4)))
        crowd.fill(3)
        known = sorted(crowd.slot, key=crowd.rank)[:3]
        for _ in range(int(rng.integers(4))):
            number = crowd.come(float(rng.integers(4)))
            crowd.offer(number)
            if known and crowd.rank(number) < max(map(crowd.rank, known)):
                known.append(number)
        score, number = float(rng.integers(-1, 4)), int(rng.integers(20, 30))
        expected = bool(known) and all(
            (score, tie * number) < crowd.rank(each) for each in known
        )
        found = would_be_next(score, number, tie, pool, crowd.candidates)
        assert found == expected


@pytest.mark.parametrize("pool", [0, 1])
def test_the_expired_leave_by_their_time(pool: int, rng: np.random.Generator) -> None:
    crowd, expiry = Crowd(1, pool), dict[int, int]()
    for clock in range(60):
        for _ in range(min(SLOTS - len(crowd.slot), int(rng.integers(3)))):
            number = crowd.come(0.0)
            expiry[number] = int(rng.integers(clock - 4, clock + 6))
            slot = crowd.slot[number]
            expect(slot, number, expiry[number], pool, crowd.candidates)
        if crowd.slot and rng.random() < 0.3:
            crowd.leave(int(rng.choice(list(crowd.slot))))
        due = sorted(
            (expiry[each], each) for each in crowd.slot if expiry[each] < clock
        )
        args = clock, pool, crowd.table, crowd.candidates
        for _, number in due[: int(rng.integers(2, 5))]:
            assert has_expired(clock, pool, crowd.candidates)
            assert crowd.number_at(next_expired(*args)) == number
            crowd.leave(number)
        if not due:
            assert next_expired(*args) == NOBODY
        if clock % 8 == 0:  # as a fill would do
            left = sorted((expiry[each], each) for each in crowd.slot)
            crowd.facts["expiring_next"], crowd.facts["expiring_end"] = 0, len(left)
            crowd.facts["expected_size"] = 0
            for place, (time, number) in enumerate(left):
                entry = time, number, crowd.slot[number]
                crowd.candidates.expiring[pool, place] = entry


@pytest.mark.parametrize("pool", [0, 1])
def test_those_set_aside_become_candidates_when_mature(
    pool: int, rng: np.random.Generator
) -> None:
    crowd, aside = Crowd(1, pool, room=8), list[tuple[int, int]]()
    crowd.facts["bar_score"] = np.inf
    for clock in range(80):
        for _ in range(min(SLOTS - len(crowd.slot), 8 - len(aside), 2)):
            number = crowd.come(float(rng.integers(4)))
            defer(crowd.slot[number], number, clock, pool, crowd.candidates)
            aside.append((clock, number))
        if crowd.slot and rng.random() < 0.4:
            crowd.leave(int(rng.choice(list(crowd.slot))))
        before = clock - int(rng.integers(4))
        mature(before, 1, pool, crowd.table, crowd.candidates)
        ready = [number for time, number in aside if time < before]
        aside = [(time, number) for time, number in aside if time >= before]
        for number in sorted(set(ready) & set(crowd.slot), key=crowd.rank):
            assert crowd.next() == number
            crowd.leave(number)
        assert crowd.next() == NOBODY
        assert not crowd.facts["overfull"]


@pytest.mark.parametrize("pool", [0, 1])
def test_if_nobody_is_mature_the_newest_leaves(pool: int) -> None:
    crowd = Crowd(1, pool, room=4)
    for number in [crowd.come(float(score)) for score in (3, 1, 2, 0)]:
        defer(crowd.slot[number], number, 0, pool, crowd.candidates)
    assert crowd.next() == NOBODY  # others may be there
    crowd.facts["all_deferred"] = 1
    crowd.leave(2)
    for expected in (3, 1, 0):
        assert crowd.next() == expected
        crowd.leave(expected)
    assert newest_deferred(pool, crowd.table, crowd.candidates) == NOBODY


@pytest.mark.parametrize("pool", [0, 1])
def test_lists_by_time_without_room_say_so(pool: int) -> None:
    crowd = Crowd(1, pool, room=2)
    for entry in (defer, expect):
        crowd.fill(0)
        entry(0, 0, 5, pool, crowd.candidates)
        entry(1, 1, 6, pool, crowd.candidates)
        assert not crowd.facts["overfull"]
        entry(2, 2, 7, pool, crowd.candidates)
        assert crowd.facts["overfull"]


@pytest.mark.parametrize("pool", [0, 1])
def test_who_has_gone_takes_no_room_when_mature(pool: int) -> None:
    crowd = Crowd(1, pool, room=2)
    crowd.facts["bar_score"] = np.inf
    for number in (crowd.come(1.0), crowd.come(2.0)):
        defer(crowd.slot[number], number, 0, pool, crowd.candidates)
        crowd.leave(number)
    mature(5, 1, pool, crowd.table, crowd.candidates)
    crowd.offer(crowd.come(4.0))
    crowd.offer(crowd.come(3.0))
    assert not crowd.facts["overfull"]
    assert crowd.next() == 3
