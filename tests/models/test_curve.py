"""Age curves against sums over all matches and all the time that rows waited."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from oracle.policies import age_priorities
from shedjoin.lab.plan import recall
from shedjoin.models.curve import (
    AGES,
    COUNTS,
    LEVELS,
    Curve,
    age_of,
    level_of,
    priorities,
)

from .plain_curve import certain, rates_by_age, rates_by_level, typical_count
from .rooms import room

KEEP = (6400, 640, 3200)
HALF_LIFE = 5000


class Evidence(NamedTuple):
    """A match or a wait: of which row, in which age, and how much it counts."""

    stream: int
    level: int
    age: int
    weight: float


def empty(streams: int) -> Curve:
    return Curve(room(Curve.shapes(streams)), KEEP[:streams], HALF_LIFE)


def total(
    some: list[Evidence], stream: int, level: int | None, age: int | None
) -> float:
    """Sum of what counts for one stream; None is any level or any age."""
    return sum(
        one.weight
        for one in some
        if one.stream == stream
        and level in {None, one.level}
        and age in {None, one.age}
    )


def aged(some: list[Evidence], factor: float) -> list[Evidence]:
    return [one._replace(weight=one.weight * factor) for one in some]


def waits(stream: int, level: int, young: int, old: int) -> list[Evidence]:
    """Seconds that a row spent in each age."""
    span = KEEP[stream] // AGES
    spent = [
        (age, min(old, (age + 1) * span) - max(young, age * span))
        for age in range(AGES)
    ]
    return [Evidence(stream, level, age, us * 1e-6) for age, us in spent if us > 0]


def learn(
    curve: Curve, streams: int, rng: np.random.Generator
) -> tuple[list[Evidence], list[Evidence]]:
    """Give a curve some evidence; the same as lists."""
    matches: list[Evidence] = []
    seconds: list[Evidence] = []
    for _ in range(4):
        stream, level = rng.integers(streams, size=30), rng.integers(3, size=30)
        age = rng.integers(np.array(KEEP)[stream] + 1)
        curve.add_matches(stream, level, age)
        passed = int(rng.integers(HALF_LIFE))
        curve.tick(passed)
        factor = 0.5 ** (passed / HALF_LIFE)
        matches, seconds = aged(matches, factor), aged(seconds, factor)
        for own, at, us in zip(
            *(x.tolist() for x in (stream, level, age)), strict=True
        ):
            bucket = min(AGES - 1, us * AGES // KEEP[own])
            matches.append(Evidence(own, at, bucket, 1.0))
        for own in range(streams):
            level = rng.integers(3, size=12)
            young = rng.integers(-500, KEEP[own] // 2, 12)
            old = young + rng.integers(KEEP[own] // 2, size=12)
            curve.add_time(own, level, young, old)
            for row in zip(level.tolist(), young.tolist(), old.tolist(), strict=True):
                seconds += waits(own, *row)
    return matches, seconds


@pytest.mark.parametrize("streams", [2, 3])
def test_evidence_is_summed_and_fades(streams: int, rng: np.random.Generator) -> None:
    curve = empty(streams)
    matches, seconds = learn(curve, streams, rng)
    for stream in range(streams):
        for level in range(4):
            for age in range(AGES):
                cell = stream, level, age
                assert curve.matches[cell] == pytest.approx(total(matches, *cell))
                assert curve.seconds[cell] == pytest.approx(total(seconds, *cell))


@pytest.mark.parametrize(
    ("matches", "known_us", "aged_us"),
    [
        (10, 1000, 500),  # few matches: the half-life is all time so far
        (2000, 1000, 1000),  # the matches of half the time are enough
        (100_000, 1000, 2000),  # but never less than a quarter of the time
        (100_000, 10 * HALF_LIFE, 100),  # the lasting half-life is never exceeded
        (0, 0, 500_000),  # with the first row
    ],
)
def test_evidence_of_the_first_windows_fades_sooner(
    matches: int, known_us: int, aged_us: int
) -> None:
    curve = empty(2)
    curve.matches[0, 3, 5] = matches
    assert curve.aged(100, known_us) == aged_us


@pytest.mark.parametrize("streams", [2, 3])
def test_rates_by_age(streams: int, rng: np.random.Generator) -> None:
    curve = empty(streams)
    matches, seconds = learn(curve, streams, rng)
    found = curve.by_age()
    for stream in range(streams):
        met, waited = (
            [total(some, stream, None, age) for age in range(AGES)]
            for some in (matches, seconds)
        )
        assert found[stream].tolist() == pytest.approx(rates_by_age(met, waited))


@pytest.mark.parametrize("streams", [2, 3])
def test_rates_by_level_lean_on_level_and_age(
    streams: int, rng: np.random.Generator
) -> None:
    """The more keys the evidence of a level comes from, the less it leans."""
    curve, per_count = empty(streams), 2000.0
    matches, seconds = learn(curve, streams, rng)
    for stream in range(streams):
        curve.add_keys(stream, np.repeat([0, 1, 2], [1, 40, 400]), KEEP[stream])
    found = curve.by_level(per_count)
    keys = [1.0, 40.0, 400.0] + [0.0] * (LEVELS - 3)
    expected = [typical_count(level) * per_count for level in range(LEVELS)]
    for stream in range(streams):
        met, waited = (
            [
                [total(some, stream, level, age) for age in range(AGES)]
                for level in range(LEVELS)
            ]
            for some in (matches, seconds)
        )
        each = (certain(n) * sum(waited[n]) * expected[n] for n in range(LEVELS))
        rates = rates_by_level(met, waited, keys, expected, sum(each))
        for level in range(LEVELS):
            assert found[stream, level].tolist() == pytest.approx(rates[level])


def test_keys_count_for_the_part_of_a_life_that_they_had_rows() -> None:
    curve = empty(2)
    curve.add_keys(1, np.array([3, 3, 5]), KEEP[1] // 4)
    curve.tick(HALF_LIFE)
    curve.add_keys(1, np.array([3]), KEEP[1] // 2)
    assert curve.keys[1, 3] == 0.75
    assert curve.keys[1, 5] == 0.125
    assert not curve.keys[0].any()


def test_results_of_one_key_say_little_of_others() -> None:
    """It matches ten times as often as its count says; others of its level may not."""
    few, many = empty(2), empty(2)
    for curve, keys in ((few, 1), (many, 300)):
        curve.seconds[:, 16] = 100.0
        curve.matches[:, 16] = 1000.0 * COUNTS[16]
        curve.seconds[:, 20] = 1e4
        curve.matches[:, 20] = 1e4 * COUNTS[20]  # as often as counts say
        curve.keys[:, 20] = 1e4
        curve.hoped[:] = AGES * (1e4 * COUNTS[20] + 100.0 * COUNTS[16])
        curve.keys[:, 16] = keys
    lone, common = (curve.by_level(1.0)[0, 16] / COUNTS[16] for curve in (few, many))
    assert (lone < 3.0).all()
    assert (common > 5.0).all()


def test_ages_of_rare_keys_alone_are_not_poor() -> None:
    """Late ages that only rare keys have reached, when frequent ones left the slice."""
    curve = empty(2)
    curve.keys[:] = 1e4
    for level, rate, reached in ((20, 20.0, AGES // 2), (12, 1.0, AGES)):
        curve.seconds[:, level, :reached] = 100.0
        curve.matches[:, level, :reached] = 100.0 * rate
        curve.hoped += 100.0 * reached * COUNTS[level]
    found = curve.by_level(1.0)
    assert found[:, 20] == pytest.approx(np.full((2, AGES), 20.0), rel=0.1)
    assert curve.by_age()[0, -1] == pytest.approx(1.0, rel=0.1)


def test_without_evidence_a_level_is_as_good_as_its_count() -> None:
    found = empty(2).by_level(5.0)
    for level in range(LEVELS):
        expected = 5.0 * typical_count(level)
        assert found[:, level] == pytest.approx(np.full((2, AGES), expected))
    assert not empty(2).by_age().any()


def test_matches_count_from_the_next_tick_on() -> None:
    curve, one = empty(2), np.array([1])
    curve.add_matches(one, one, np.array([100]))
    assert not curve.matches.any()
    curve.tick(HALF_LIFE)
    assert curve.matches.sum() == 1.0
    curve.tick(HALF_LIFE)
    assert curve.matches.sum() == 0.5


def test_levels_are_half_octaves() -> None:
    counts = [0.0, 1e-9, 0.031, 0.0312, 0.0443, 0.0625, 0.49, 0.5, 0.7, 0.72, 1.0, 1.5]
    assert level_of(np.array(counts)).tolist() == [0, 0, 0, 0, 1, 2, 7, 8, 8, 9, 10, 11]
    assert level_of(np.array([2.0, 4.0, 1e9, math.inf])).tolist() == [12, 14, 31, 31]


def test_ages_are_parts_of_the_window() -> None:
    age, keep = np.array([-5, 0, 99, 100, 6399, 6400, 9999, 7]), np.full(8, 6400)
    keep[-1] = 0
    assert age_of(age, keep).tolist() == [0, 0, 0, 1, 63, 63, 63, 63]


def test_priorities_are_those_of_the_paper(rng: np.random.Generator) -> None:
    rate = rng.integers(6, size=(2, 3, 9))
    found = priorities(rate.astype(float))
    for at in np.ndindex(2, 3):
        exact = age_priorities([Fraction(one) for one in rate[at].tolist()])
        assert found[at].tolist() == pytest.approx([float(one) for one in exact])


def test_priorities_are_those_of_the_plan(rng: np.random.Generator) -> None:
    rate = rng.exponential(size=(5, 12))
    planned = [recall.priorities(curve) for curve in rate]
    assert priorities(rate).tolist() == np.array(planned).tolist()
