"""Arrivals through the kernels of a round against a join with a list of residents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shedjoin.kernels.round import (
    DONE,
    FILL,
    GROW,
    NO_ROOM,
    PROBE,
    RECOMPUTE,
    RETAIN,
    Rules,
)

from .plain import make_rules
from .shedders import Compiled, Outcome, Plain, Row

KEEP = (40, 25, 60)
LIMITS = [
    {"pooled": 1, "capacity": 9, "tie": 1},
    {"pooled": 1, "capacity": 9, "tie": -1},
    {"pooled": 0, "capacity": 5, "tie": 1},
    {"pooled": 0, "capacity": 2, "tie": -1},
    {"pooled": 1, "capacity": 0, "tie": 1},
    {"pooled": 1, "capacity": 500, "tie": 1},
]
PATIENT = [
    {"pooled": 1, "capacity": 9, "tie": 1, "maturity": 6},
    {"pooled": 0, "capacity": 5, "tie": -1, "maturity": 0},
]


def rules_of(streams: int, limits: dict[str, Any], **changes: int) -> Rules:
    given = {**limits, "capacity": (limits["capacity"],) * streams, "weighs": 1}
    return make_rules(KEEP[:streams], **{**given, "window": 64, **changes})


def some_rows(
    streams: int, rng: np.random.Generator, rows: int = 60, *, late: bool
) -> list[Row]:
    """Arrivals with few keys and few scores; some do not probe or are not retained."""
    time, out = 1000, list[Row]()
    for number in range(rows):
        time += int(rng.choice([0, 0, 1, 2, 9]))
        off = int(rng.choice([0, 0, 0, 0, -30, -90, 400])) if late else 0
        does = int(rng.choice([PROBE, RETAIN, PROBE | RETAIN, 7, 7, 7, 7]))
        stream, size = int(rng.integers(streams)), int(rng.integers(1, 4))
        score = float(rng.integers(4))
        key = int(rng.integers(-1, 3))
        out.append(Row(number, stream, key, time + off, score, size, does))
    return out


def check(found: Outcome, expected: Outcome, *, counts: bool = True) -> None:
    assert found.pairs == expected.pairs
    assert found.tally == expected.tally
    assert found.raised == expected.raised
    assert found.doubtful == expected.doubtful
    assert found.life == pytest.approx(expected.life)
    if not counts:
        assert found.residents.keys() == expected.residents.keys()
    else:
        assert found.residents == expected.residents


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("thins", [0, 1])
@pytest.mark.parametrize("weighs", [0, 1])
def test_one_arrival_at_a_time(
    streams: int,
    limits: dict[str, Any],
    thins: int,
    weighs: int,
    rng: np.random.Generator,
) -> None:
    rows = some_rows(streams, rng, late=True)
    rules = rules_of(streams, limits, thins=thins, weighs=weighs)
    compiled = Compiled(rules, rows, room=100)
    found = compiled.in_turn(probes_first=True)
    check(found, Plain(rules, rows[0].time).one_by_one(rows))
    assert compiled.stops - {GROW, NO_ROOM} <= {FILL}


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("foresees", [0, 1])
def test_one_instant_at_a_time(
    streams: int, limits: dict[str, Any], foresees: int, rng: np.random.Generator
) -> None:
    rows = some_rows(streams, rng, late=True)
    rules = rules_of(streams, limits, counts_instant_first=foresees)
    compiled = Compiled(rules, rows, room=100)
    found = compiled.in_turn(probes_first=False)
    check(found, Plain(rules, rows[0].time).by_instant(rows))


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("limits", [*PATIENT, *LIMITS[:3]], ids=str)
@pytest.mark.parametrize("probes_first", [True, False])
def test_young_rows_stay_while_an_older_one_can_leave(
    streams: int, limits: dict[str, Any], probes_first: bool, rng: np.random.Generator
) -> None:
    """With a fill before every shed; without the rule, before every fifth."""
    due = 1 if "maturity" in limits else 5
    rows, rules = some_rows(streams, rng, late=False), rules_of(streams, limits)
    compiled, plain = Compiled(rules, rows, 100, due), Plain(rules, rows[0].time)
    found = compiled.in_turn(probes_first=probes_first)
    check(found, plain.one_by_one(rows) if probes_first else plain.by_instant(rows))
    assert RECOMPUTE in compiled.stops


def test_a_row_that_matures_after_a_fill_of_young_rows_leaves() -> None:
    """The second row makes a fill; at the third one the first is mature."""
    rules = make_rules((800, 800), capacity=(1, 1), pooled=1, maturity=5, weighs=1)
    rows = [Row(n, 0, n, time, 0.0, 1, 7) for n, time in enumerate((1000, 1001, 1020))]
    found = Compiled(rules, rows, room=9).in_turn(probes_first=True)
    check(found, Plain(rules, rows[0].time).one_by_one(rows))


@pytest.mark.parametrize("probes_first", [True, False])
def test_little_room_for_matches_makes_no_difference(
    probes_first: bool, rng: np.random.Generator
) -> None:
    rows = some_rows(2, rng, rows=120, late=False)
    rules = rules_of(2, LIMITS[-1])
    found = {}
    for room in (30, 1000):
        compiled = Compiled(rules, rows, room)
        found[room] = compiled.in_turn(probes_first=probes_first)
        assert compiled.stops >= {GROW}
        assert (NO_ROOM in compiled.stops) == (room == 30)
        assert DONE not in compiled.stops
    check(found[30], found[1000])
    assert len(found[30].pairs) > 30
