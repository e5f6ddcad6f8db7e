"""The monitored slice against a plain join of all rows whose key is monitored."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.matching import MIN, SUM
from shedjoin.models.monitored import Ghosts, Seen, Slice
from shedjoin.models.sampling import matches_so_far
from shedjoin.types import IntArray

from .rooms import room

KEEP = (50, 20, 90)
Row = tuple[int, int, int]
"""Stream, key and time."""
Pair = tuple[int, int, int, int, float, int]
"""Place of an arrival; stream and key of the earlier row, and how long it waited; the
importance of the ghost and the class of its size."""


def empty(streams: int, ghosts: int) -> Slice:
    return Slice(room(Slice.shapes(streams, ghosts)), KEEP[:streams])


def importance_of(time: int) -> float:
    """What a row is worth in these tests, by its time."""
    return 1.0 + time % 7


def plain_join(new: list[Row], other: int, old: list[Row]) -> list[Pair]:
    """Pairs of arrivals with rows of one other stream."""
    found = []
    for place, (stream, key, time) in enumerate(new):
        for their_stream, their_key, their_time in old:
            waited = time - their_time
            if their_stream == other and key == their_key:
                owner = other if waited >= 0 else stream
                if abs(waited) <= KEEP[owner]:
                    value = importance_of(their_time)
                    octave = their_time % 16
                    found.append((place, owner, key, abs(waited), value, octave))
    return sorted(found)


def pairs_of(rows: IntArray, seen: Seen) -> list[Pair]:
    return sorted(zip(rows.tolist(), *(part.tolist() for part in seen), strict=True))


def put(part: Slice, stream: int, key: IntArray, time: IntArray) -> None:
    """Keep ghosts, each with its importance and class of size."""
    importance = np.array([importance_of(one) for one in time.tolist()])
    part.add(stream, Ghosts(key, time, importance, (time % 16).astype(np.int8)))


def ghosts_of(key: IntArray, time: IntArray) -> Ghosts:
    """Ghosts without importance, each of the first class of sizes."""
    return Ghosts(key, time, np.full(key.size, np.inf), np.zeros(key.size, np.int8))


def column(rows: list[Row], at: int) -> IntArray:
    """A read-only column, as the models pass it on."""
    made = np.array([row[at] for row in rows], np.int64)
    made.flags.writeable = False
    return made


def arrive(part: Slice, stream: int, rows: list[Row], clock: int) -> list[Row]:
    """Make room, then add those rows that are still monitored; they are returned."""
    while True:
        watched = part.monitored(column(rows, 1))
        some = [row for row, flag in zip(rows, watched, strict=True) if flag]
        coming = np.zeros(len(part.keep_us), np.int64)
        coming[stream] = len(some)
        if part.has_room(coming, clock):
            break
    return some


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize(("ghosts", "late"), [(512, 30), (16, 0)])
def test_ghosts_match_what_an_unlimited_join_would(
    streams: int, ghosts: int, late: int, rng: np.random.Generator
) -> None:
    part, seen, shares, pairs = empty(streams, ghosts), list[Row](), [1.0], 0
    for clock in range(100, 400, 8):
        stream, count = int(rng.integers(streams)), int(rng.integers(15))
        time = clock - rng.integers(late + 1, size=count)
        key = rng.integers(40, size=count)
        keys, times = key.tolist(), time.tolist()
        rows = [(stream, *row) for row in zip(keys, times, strict=True)]
        some = arrive(part, stream, rows, clock)
        keys_now = part.monitored(np.arange(40))
        for other in set(range(streams)) - {stream}:
            came = ghosts_of(column(some, 1), column(some, 2))
            found = part.meet(stream, other, came, None)
            old = [row for row in seen if keys_now[row[1]]]
            expected = plain_join(some, other, old)
            assert pairs_of(found.rows, found.seen) == expected
            assert found.matches.sum() == len(expected)
            pairs += len(expected)
        put(part, stream, column(some, 1), column(some, 2))
        seen += some
        shares.append(part.share)
    assert pairs > 20
    assert sorted(shares, reverse=True) == shares
    assert (part.share < 1.0) == (ghosts == 16)


@pytest.mark.parametrize("combine", [MIN, SUM])
def test_of_many_matches_some_stand_for_all(combine: int) -> None:
    """All are counted, with what they are worth; ages are learned from a sample."""
    rows, keep = 1000, 1500
    part = Slice(room(Slice.shapes(2, 1024)), (keep, 10))
    key, time = np.arange(rows) % 2, np.arange(rows)
    worth = (np.arange(rows) % 7).astype(np.float64)
    part.add(0, Ghosts(key, time, worth, np.zeros(rows, np.int8)))
    came = Ghosts(key, time + rows, worth, np.zeros(rows, np.int8))
    found = part.meet(1, 0, came, combine)
    pairs = [
        np.flatnonzero((key == k) & (rows + t - time <= keep))
        for k, t in zip(key, time, strict=True)
    ]
    assert found.matches.tolist() == [len(each) for each in pairs]
    how = np.minimum if combine == MIN else np.add
    expected = [
        how(own, worth[each]).sum() for own, each in zip(worth, pairs, strict=True)
    ]
    assert found.worth == pytest.approx(expected)
    total = int(found.matches.sum())
    assert found.step > 10
    assert found.rows.size == pytest.approx(total / found.step, abs=1)
    ages = np.concatenate(
        [rows + t - time[each] for t, each in zip(time, pairs, strict=True)]
    )
    assert found.seen.age_us.mean() == pytest.approx(ages.mean(), rel=0.03)
    assert found.seen.age_us.std() == pytest.approx(ages.std(), rel=0.03)


def test_half_of_the_keys_are_left_out_each_time() -> None:
    part, keys = empty(2, 4), np.arange(4000)
    before = part.monitored(keys)
    assert before.all()
    for halvings in range(1, 6):
        assert not part.has_room(np.array([5, 0]), 0)
        after = part.monitored(keys)
        assert part.share == 0.5**halvings
        assert not (after & ~before).any()
        assert abs(after.mean() - part.share) < 0.03
        before = after


def test_groups_do_not_depend_on_who_is_monitored() -> None:
    """They are about equally large, among all keys and among the monitored ones."""
    part, keys = empty(2, 4), np.arange(64_000)
    for _ in range(3):
        assert not part.has_room(np.array([5, 0]), 0)
    group, watched = part.group(keys, 32), part.monitored(keys)
    for some in (group, group[watched]):
        sizes = np.bincount(some, minlength=32)
        assert sizes.size == 32
        mean = some.size / 32
        assert (abs(sizes - mean) < 4.5 * np.sqrt(mean)).all()


@pytest.mark.parametrize("streams", [2, 3])
def test_only_what_has_expired_goes_if_that_is_enough(streams: int) -> None:
    part = empty(streams, 8)
    time = np.array([9, 10, 11, 12, 60, 61, 62])
    put(part, 0, fresh := np.arange(7), time)
    coming = np.zeros(streams, np.int64)
    coming[0] = 1
    assert part.has_room(coming, 1000)
    assert part.ghosts(0).key.size == 7  # there was room: nobody looked
    coming[0] = 2
    assert part.has_room(coming, 62)  # lived until 59, 60, 61 and 62
    assert part.ghosts(0).time.tolist() == [12, 60, 61, 62]
    assert part.ghosts(0).key.tolist() == fresh[3:].tolist()
    left = [importance_of(one) for one in (12, 60, 61, 62)]
    assert part.ghosts(0).importance.tolist() == left
    assert part.share == 1.0
    coming[0] = 4
    assert part.has_room(coming, 62)
    coming[0] = 5
    assert not part.has_room(coming, 62)
    assert part.share == 0.5
    assert part.monitored(part.ghosts(0).key).all()


def test_ghosts_that_take_half_of_the_room_are_too_many() -> None:
    part = empty(2, 8)
    put(part, 1, np.arange(8), np.array([0, 0, 0, 100, 100, 100, 100, 100]))
    assert not part.has_room(np.array([0, 1]), 100)  # five are left, but fit
    assert part.share == 0.5


def test_ghosts_beyond_the_room_are_not_kept() -> None:
    part = empty(2, 4)
    put(part, 0, np.arange(6), np.arange(6))
    assert part.ghosts(0).key.tolist() == [0, 1, 2, 3]


def random_ghosts(rng: np.random.Generator, rows: int) -> Ghosts:
    key, time = rng.integers(-3, 3, rows), rng.integers(-20, 30, rows)
    return ghosts_of(key, time)._replace(importance=rng.normal(0.0, 1.0, rows))


@pytest.mark.parametrize("keep", [0, 7, 1000])
def test_matches_so_far(keep: int, rng: np.random.Generator) -> None:
    """Their number, and the sums of their values and of the squares of these."""
    for rows in (0, 1, 40):
        mine, theirs = random_ghosts(rng, rows), random_ghosts(rng, 30)
        values = [
            [
                value * other
                for key, time, other in zip(*theirs[:3], strict=True)
                if key == own and 0 <= time - since <= keep
            ]
            for own, since, value in zip(*mine[:3], strict=True)
        ]
        met, total, squares = matches_so_far(mine, theirs, keep)
        assert met.tolist() == [len(each) for each in values]
        assert total.tolist() == pytest.approx([sum(each) for each in values])
        expected = [sum(value**2 for value in each) for each in values]
        assert squares.tolist() == pytest.approx(expected)
    nobody = random_ghosts(rng, 0)
    for column in matches_so_far(nobody, nobody, keep):
        assert column.tolist() == []
