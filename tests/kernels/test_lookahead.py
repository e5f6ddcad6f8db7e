"""Matches looked up before it is known who leaves are those found one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .shedders import Compiled, Plain, Row
from .test_rounds import LIMITS, check, rules_of, some_rows


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("thins", [0, 1])
@pytest.mark.parametrize("weighs", [0, 1])
@pytest.mark.parametrize("late", [False, True])
def test_same_as_one_by_one(
    streams: int,
    limits: dict[str, Any],
    thins: int,
    weighs: int,
    late: bool,
    rng: np.random.Generator,
) -> None:
    rows = some_rows(streams, rng, late=late)
    rules = rules_of(streams, limits, thins=thins, weighs=weighs)
    found = Compiled(rules, rows, room=1000).ahead(room=1000)
    expected = Plain(rules, rows[0].time).one_by_one(rows)
    check(found, expected, counts=False)


def test_a_row_that_is_behind_the_clock_raises_the_bar() -> None:
    """It leaves because of its score, as others do, although its time is over."""
    rules = rules_of(2, {"pooled": 1, "capacity": 2, "tie": 1})
    times, scores = (1000, 1001, 1002, 1003, 900), (5.0, 6.0, 7.0, 8.0, 5.5)
    rows = [
        Row(number, number % 2, 0, time, score, 1, 7)
        for number, (time, score) in enumerate(zip(times, scores, strict=True))
    ]
    found = Compiled(rules, rows, room=99).ahead(room=99)
    assert found.pairs
    assert found.raised[0, 5] == 5.5
    check(found, Plain(rules, rows[0].time).one_by_one(rows), counts=False)


@pytest.mark.parametrize("room", [1, 7, 60])
@pytest.mark.parametrize("limits", [LIMITS[0], LIMITS[-1]], ids=str)
def test_runs_that_end_early_for_lack_of_room(
    room: int, limits: dict[str, Any], rng: np.random.Generator
) -> None:
    rows, rules = some_rows(2, rng, late=False), rules_of(2, limits)
    found = Compiled(rules, rows, room).ahead(room)
    check(found, Plain(rules, rows[0].time).one_by_one(rows), counts=False)
