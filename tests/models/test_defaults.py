"""The default policies score as their formulas say, from lists of all rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shedjoin.models.learned import Models
from shedjoin.policies import Expected, Residents, Valued

from .plain import Arrival, PlainModels

KEEP = (6_400_000, 3_200_000, 4_800_000)
IMPORTANCE = (0.5, 1.0, 3.0, 10.0)


class Taught:
    """The models and their plain double, taught the same rows."""

    def __init__(self, streams: int, rng: np.random.Generator) -> None:
        self.rng, self.keep = rng, KEEP[:streams]
        self.models = Models(self.keep, capacity_rows=100)
        self.plain = PlainModels(self.keep)
        self.clock = 50_000_000

    def go_on(self, seconds: float, *, silent: bool = False, hot: float = 0.3) -> None:
        """Some rows, few of them late or from the future; key 0 is hot."""
        start, self.clock = self.clock, self.clock + int(seconds * 1e6)
        time = np.sort(self.rng.integers(start, self.clock - 5, 12))
        late = self.rng.random(12) < 0.1
        time[1:][late[1:]] -= 1_234_567
        time[3] = self.clock + 777_777
        key = np.where(self.rng.random(12) < hot, 0, self.rng.integers(1, 5, 12))
        stream = self.rng.integers(len(self.keep), size=12)
        # The first rows and one from the future come when the clock is read. Alone they
        # would count exactly one, on the edge of a level: counts of half a word are on
        # either side of it.
        key[1:4], stream[1:4] = key[0], stream[0]
        importance = self.rng.choice(IMPORTANCE, 12)
        importance[(stream == 0) & silent] = math.inf
        clock = self.clock
        self.models.observe(stream, key, time, importance, clock_us=clock)
        columns = (part.tolist() for part in (stream, key, time, importance))
        rows = [Arrival(*row) for row in zip(*columns, strict=True)]
        self.plain.observe(rows, clock)

    def residents(self, rows: int) -> Residents:
        stream = self.rng.integers(len(self.keep), size=rows)
        age = self.rng.integers(-500_000, 7_000_000, rows)
        return Residents(
            stream=stream,
            key=self.rng.integers(6, size=rows),
            time=self.clock - age,
            number=np.arange(rows),
            importance=self.rng.choice([0.7, 2.0, 5.0, 20.0, math.inf], rows),
            size=np.ones(rows, np.int64),
            now_us=self.clock,
            keep_us=self.keep,
            learned=self.models,
        )

    def check(self, rows: int) -> None:
        """Compare the scores of some residents."""
        some = self.residents(rows)
        found = Expected().score(some)
        valued = Valued().score(some)
        for row in range(rows):
            stream, key = int(some.stream[row]), int(some.key[row])
            rate = self.plain.priority(stream, key, int(some.age_us[row]))
            assert found[row] == pytest.approx(rate, rel=1e-5, abs=1e-9)
            worth = self.plain.worth(stream, float(some.importance[row]))
            assert valued[row] == pytest.approx(rate * worth, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("streams", [2, 3])
def test_before_anything_came(streams: int, rng: np.random.Generator) -> None:
    Taught(streams, rng).check(10)


@pytest.mark.parametrize("streams", [2, 3])
@pytest.mark.parametrize("silent", [False, True])
def test_scores_follow_what_came(
    streams: int, silent: bool, rng: np.random.Generator
) -> None:
    taught = Taught(streams, rng)
    for seconds in (0.3, 0.02, 0.5, 1.5, 0.01, 0.01, 2.0, 1.0):
        taught.go_on(seconds, silent=silent)
    taught.check(20)
    for seconds in (3.0, 0.7, 9.0, 0.4):
        taught.go_on(seconds, silent=silent)
    taught.check(20)


def test_a_key_that_becomes_frequent_is_noticed(rng: np.random.Generator) -> None:
    taught = Taught(2, rng)
    for _ in range(6):
        taught.go_on(3.0, hot=0.0)
    for _ in range(3):
        taught.go_on(0.1, hot=0.9)
    assert taught.plain.news(1, 0) > 2.0
    taught.check(25)
