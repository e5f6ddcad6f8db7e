"""Matches by stream and segment against sorting them in Python."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.kernels.grouping import Grouped, Segments, group_matches

BITS = 4


@pytest.mark.parametrize("matches", [0, 1, 200])
def test_groups_are_those_of_a_stable_sort(
    matches: int, rng: np.random.Generator
) -> None:
    rows, ids = 30, [5, 6, 9]
    stream, origin = rng.integers(2, size=rows), rng.permutation(rows)
    arrival = rng.integers(rows, size=matches)
    stored = (rng.choice(ids, matches) << BITS) + rng.integers(1 << BITS, size=matches)
    place = np.where(rng.random(matches) < 0.3, -1 - rng.integers(rows), stored)
    group = np.zeros(ids[-1] - ids[0] + 1, np.int64)
    group[np.array(ids) - ids[0]] = [1, 2, 3]
    match, own, theirs = (np.zeros(matches, np.int64) for _ in range(3))
    into = Grouped(match, own, theirs, np.zeros((2, 4), np.int64))
    segments = Segments(group, ids[0], BITS)
    group_matches(arrival, place, stream, origin, segments, into)

    def group_of(each: int) -> tuple[int, int]:
        number = int(place[each]) >> BITS
        return int(stream[arrival[each]]), 1 + ids.index(number) if number >= 0 else 0

    expected = sorted(range(matches), key=group_of)
    assert match.tolist() == expected
    assert own.tolist() == origin[arrival[expected]].tolist()
    assert theirs.tolist() == [
        int(place[each]) & 15 if place[each] >= 0 else int(origin[-1 - place[each]])
        for each in expected
    ]
    groups = [group_of(each) for each in expected]
    for at, end in np.ndenumerate(into.end):
        assert end == sum(each <= at for each in groups)
