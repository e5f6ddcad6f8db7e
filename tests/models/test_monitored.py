"""The monitored slice against a plain join of all rows whose key is monitored."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.models.monitored import Ghosts, Seen, Slice
from shedjoin.models.sampling import matches_so_far
from shedjoin.types import IntArray

from .rooms import room

KEEP = (50, 20, 90)
Row = tuple[int, int, int]
"""Stream, key and time."""


def empty(streams: int, ghosts: int) -> Slice:
    return Slice(room(Slice.shapes(streams, ghosts)), KEEP[:streams])


def plain_join(new: list[Row], old: list[Row]) -> list[Row]:
    """Stream and key of the earlier row of each pair, and how long it waited."""
    found = []
    for stream, key, time in new:
        for other, their_key, their_time in old:
            waited = time - their_time
            if other != stream and key == their_key:
                owner = other if waited >= 0 else stream
                if abs(waited) <= KEEP[owner]:
                    found.append((owner, key, abs(waited)))
    return sorted(found)


def rows_of(seen: Seen) -> list[Row]:
    return sorted(zip(*(part.tolist() for part in seen), strict=True))


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
        found = part.meet(stream, column(some, 1), column(some, 2))
        expected = plain_join(some, [row for row in seen if keys_now[row[1]]])
        assert rows_of(found) == expected
        part.add(stream, column(some, 1), column(some, 2))
        seen += some
        pairs += len(expected)
        shares.append(part.share)
    assert pairs > 20
    assert sorted(shares, reverse=True) == shares
    assert (part.share < 1.0) == (ghosts == 16)


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


@pytest.mark.parametrize("streams", [2, 3])
def test_only_what_has_expired_goes_if_that_is_enough(streams: int) -> None:
    part = empty(streams, 8)
    time = np.array([9, 10, 11, 12, 60, 61, 62])
    part.add(0, fresh := np.arange(7), time)
    coming = np.zeros(streams, np.int64)
    coming[0] = 1
    assert part.has_room(coming, 1000)
    assert part.ghosts(0).key.size == 7  # there was room: nobody looked
    coming[0] = 2
    assert part.has_room(coming, 62)  # lived until 59, 60, 61 and 62
    assert part.ghosts(0).time.tolist() == [12, 60, 61, 62]
    assert part.ghosts(0).key.tolist() == fresh[3:].tolist()
    assert part.share == 1.0
    coming[0] = 4
    assert part.has_room(coming, 62)
    coming[0] = 5
    assert not part.has_room(coming, 62)
    assert part.share == 0.5
    assert part.monitored(part.ghosts(0).key).all()


def test_ghosts_that_take_half_of_the_room_are_too_many() -> None:
    part = empty(2, 8)
    part.add(1, np.arange(8), np.array([0, 0, 0, 100, 100, 100, 100, 100]))
    assert not part.has_room(np.array([0, 1]), 100)  # five are left, but fit
    assert part.share == 0.5


def test_ghosts_beyond_the_room_are_not_kept() -> None:
    part = empty(2, 4)
    part.add(0, np.arange(6), np.arange(6))
    assert part.ghosts(0).key.tolist() == [0, 1, 2, 3]


def test_others_are_all_other_streams() -> None:
    part = empty(3, 4)
    for stream in range(3):
        part.add(stream, np.array([stream]), np.array([stream * 10]))
    assert part.others(1).key.tolist() == [0, 2]
    assert part.others(1).time.tolist() == [0, 20]


@pytest.mark.parametrize("keep", [0, 7, 1000])
def test_matches_so_far(keep: int, rng: np.random.Generator) -> None:
    for rows in (0, 1, 40):
        mine = Ghosts(rng.integers(-3, 3, rows), rng.integers(-20, 30, rows))
        theirs = Ghosts(rng.integers(-3, 3, 30), rng.integers(-20, 30, 30))
        pairs = list(zip(theirs.key.tolist(), theirs.time.tolist(), strict=True))
        assert matches_so_far(mine, theirs, keep).tolist() == [
            sum(key == own and 0 <= time - since <= keep for key, time in pairs)
            for own, since in zip(mine.key.tolist(), mine.time.tolist(), strict=True)
        ]
    nobody = Ghosts(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert matches_so_far(nobody, nobody, keep).tolist() == []
