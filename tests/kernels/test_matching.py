"""Matches of one arrival against nested loops, and what they are worth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from shedjoin.kernels.matching import (
    COUNT_IT,
    EMIT,
    FORESEE,
    FORGET,
    MAX,
    MEAN,
    MIN,
    PRODUCT,
    SUM,
    has_room,
    meet,
    worth,
)
from shedjoin.kernels.round import MET, NO_LOOKS
from shedjoin.kernels.slots import bucket_of

from .plain import emitted, make_found, make_row, make_rules
from .tables import KEEP, KEYS, chains, crowded, partners, rows_of

COMBINED: dict[int, Callable[[float, float], float]] = {
    MIN: min,
    MAX: max,
    SUM: lambda a, b: a + b,
    PRODUCT: lambda a, b: a * b,
    MEAN: lambda a, b: (a + b) / 2,
}


@pytest.mark.parametrize("combine", COMBINED)
def test_worth(combine: int) -> None:
    for a in (-2.0, 0.0, 0.5, 3.0):
        for b in (-2.0, 0.0, 0.5, 3.0):
            assert worth(a, b, combine) == COMBINED[combine](a, b)
        assert worth(a, math.inf, combine) == worth(math.inf, a, combine) == a
    assert worth(math.inf, math.inf, combine) == 1.0


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("combine", [MIN, SUM])
def test_an_arrival_meets_its_partners(
    streams: int, combine: int, rng: np.random.Generator
) -> None:
    rules = make_rules(KEEP[:streams], combine=combine)
    for _ in range(20):
        table, out = crowded(streams, rng), make_found(streams, 40)
        stream, key = int(rng.integers(streams)), KEYS[rng.integers(3)]
        time, since = int(rng.integers(20)), int(rng.integers(10, 21))
        row = make_row(stream, key, time, number=20, at=4)
        expected = partners(table, stream, key, time, since)
        how = EMIT | COUNT_IT
        assert meet(row, since, how, rules, NO_LOOKS, table, out) == len(expected)
        assert emitted(out) == [
            (4, 100 + each.number, each.number) for each in expected
        ]
        gained = sum(COMBINED[combine](2.0, 1.0 + each.number) for each in expected)
        assert float(out.sums[0]["gained"]) == gained
        assert float(out.matches["worth"][: len(expected)].sum()) == gained
        assert not out.tally[MET].any()  # all that it met are matches
        walked = [
            len(chains(table)[bucket_of(np.int64(key), other, table)])
            for other in range(streams)
            if other != stream
        ]
        assert int(table.facts[0]["longest_chain"]) == max(walked)
        met = {each.slot for each in expected}
        for each in rows_of(table):
            assert float(table.details[each.slot]["matches"]) == (each.slot in met)


@pytest.mark.parametrize("streams", [2, 3])
def test_what_is_foreseen_is_neither_given_out_nor_counted(
    streams: int, rng: np.random.Generator
) -> None:
    rules, out = make_rules(KEEP[:streams]), make_found(streams, 0)
    table = crowded(streams, rng, count=60)
    row = make_row(1, KEYS[0], 8, number=60)
    met = {each.slot for each in partners(table, 1, KEYS[0], 8, 60)}
    assert met
    for how, foreseen in ((FORESEE, 1.0), (FORESEE, 2.0), (FORGET, 0.0)):
        assert meet(row, 60, how, rules, NO_LOOKS, table, out) == len(met)
        for slot in range(table.meta.size):
            expected = foreseen if slot in met else 0.0
            assert float(table.details[slot]["foreseen"]) == expected
    assert not table.details["matches"].any()
    assert not out.tally.any()


@pytest.mark.parametrize("streams", [2, 3])
def test_room_is_enough_exactly_if_all_matches_fit(
    streams: int, rng: np.random.Generator
) -> None:
    rules, table = make_rules(KEEP[:streams]), crowded(streams, rng)
    for _ in range(60):
        stream, key = int(rng.integers(streams)), KEYS[rng.integers(3)]
        row = make_row(stream, key, int(rng.integers(20)), number=20)
        out = make_found(streams, int(rng.integers(3, 10)))
        out.cursor[0]["found"] = 3
        count = len(partners(table, stream, key, row.time, 20))
        free = out.matches.size - 3
        assert has_room(row, rules, NO_LOOKS, table, out, 0) == (count <= free)
        assert not has_room(row, rules, NO_LOOKS, table, out, free - count + 1)
