"""All that a shard learns, from lists of all rows: slow and obvious."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

AGES, LEVELS = 64, 24
STRENGTH = 3.0
WIDTH = 256
"""Cells of a row of the least sketch."""
Cell = tuple[int, int, int]
"""Stream, level and age."""


class Arrival(NamedTuple):
    """A row of a stream."""

    stream: int
    key: int
    time: int
    importance: float = math.inf


def rates_by_age(matches: list[float], seconds: list[float]) -> list[float]:
    """Results per second by age; ages that nothing has reached go on as the last."""
    known = [age for age in range(AGES) if seconds[age]]
    if not known:
        return [0.0] * AGES
    rates = []
    for age in range(AGES):
        at = min(age, known[-1])
        near = [0.7 ** abs(at - other) for other in range(AGES)]
        found, time = (
            sum(weight * one for weight, one in zip(near, table, strict=True))
            for table in (matches, seconds)
        )
        if age > known[-1]:
            rates.append(found / time + 1.0 / sum(seconds))
        elif found:
            lean = STRENGTH * time / found
            rates.append((matches[age] + STRENGTH) / (seconds[age] + lean))
        else:
            rates.append(0.0)
    return rates


def shared_shape(
    matches: list[list[float]], seconds: list[list[float]], leaning: list[float]
) -> list[float]:
    """What came at an age, in parts of the mean or of what levels let expect.

    Matches and seconds are by level and age; the greater of both shapes counts.
    """
    met = [sum(line) for line in zip(*matches, strict=True)]
    waited = [sum(line) for line in zip(*seconds, strict=True)]
    likely = [
        sum(map(math.prod, zip(line, leaning, strict=True)))
        for line in zip(*seconds, strict=True)
    ]
    shapes = rates_by_age(met, likely)
    if sum(met) and sum(waited):
        mean = sum(met) / sum(waited)
        by_mean = [rate / mean for rate in rates_by_age(met, waited)]
        shapes = list(map(max, shapes, by_mean))
    return shapes if any(shapes) else [1.0] * AGES


def best_count(slow: float, fast: float, faded: float, usual: float) -> float:
    """Steady count of a key from its counts at two paces.

    ``faded`` is what is left at the slow pace of a row that came when counting began,
    ``usual`` the count of any key before it became frequent.
    """
    full, full_fast = 1.0 - faded, 1.0 - faded**10
    expected = slow / full * full_fast / 10.0
    if abs(fast - expected) <= 3.0 * math.sqrt((expected + 1.0) / 2.0):
        return slow / full
    if fast < expected:  # and goes on falling
        return 10.0 * fast / full_fast * fast / expected
    before = max(0.0, min(2.0 * usual, 0.8 * (slow - fast)))
    share = (fast - before / 10.0) / (slow - before)
    low, high = faded, math.exp2(-1 / AGES)
    for _ in range(100):  # how long has it come, if it came evenly and not before
        middle = (low + high) / 2.0
        if sum(middle**n for n in range(10)) / 10.0 < share:
            low = middle
        else:
            high = middle
    return 10.0 * (fast - math.sqrt(fast / 2.0)) / (1.0 - high**10)


class PlainModels:
    """Counts, curves and worth, by their definitions; every key is monitored.

    Counts of keys have the window as half-life, and a tenth of it at the fast pace;
    evidence of matches has four windows. Counts are read as if they had been counted
    for ever: they are divided by the part that has been reached since the first row.
    """

    def __init__(self, keep: tuple[int, ...]) -> None:
        self.keep, self.window = keep, max(keep)
        self.clock = self._since = self._first = 0
        self._counted: list[Arrival] = []
        self._ghosts: list[Arrival] = []
        self._batches: list[tuple[int, list[Arrival]]] = []
        self._lately: dict[Cell, float] = defaultdict(float)
        self._matches: dict[Cell, float] = defaultdict(float)
        self._seconds: dict[Cell, float] = defaultdict(float)

    def observe(self, rows: list[Arrival], clock: int) -> None:
        """Learn from arrivals; from the first of all in parts, each as all before."""
        half = len(rows) // 2
        if half and not self._counted:
            self.observe(rows[:half], min(clock, max(row.time for row in rows[:half])))
            self.observe(rows[half:], clock)
            return
        before = self.clock or min(rows[0].time, clock)
        self._since = self._since or before
        self._first = self._first or before
        self.clock = clock
        self._batches.append((clock, rows))
        for row in sorted(rows, key=lambda row: row.stream):
            for ghost in self._ghosts:
                if ghost.stream != row.stream and ghost.key == row.key:
                    self._meet(ghost, row, before)
            self._ghosts.append(row)
        if (clock - self._since) * AGES >= self.window:
            self._tick(before)
        self._counted += [row._replace(time=min(row.time, clock)) for row in rows]

    def _meet(self, ghost: Arrival, row: Arrival, before: int) -> None:
        early = ghost if ghost.time <= row.time else row
        waited, keep = abs(row.time - ghost.time), self.keep[early.stream]
        if waited <= keep:
            level = self._level(early.stream, row.key, before)
            age = min(AGES - 1, waited * AGES // keep)
            self._lately[early.stream, level, age] += 1.0

    def _tick(self, before: int) -> None:
        passed = self.clock - self._since
        for table in (self._matches, self._seconds):
            for cell in table:
                table[cell] *= 0.5 ** (passed / (4 * self.window))
        for cell, found in self._lately.items():
            self._matches[cell] += found
        self._lately.clear()
        for ghost in self._ghosts:
            level = self._level(ghost.stream, ghost.key, before)
            span = self.keep[ghost.stream] / AGES
            for age in range(AGES):
                start = max(ghost.time + age * span, self._since)
                end = min(ghost.time + (age + 1) * span, self.clock)
                if end > start:
                    self._seconds[ghost.stream, level, age] += (end - start) * 1e-6
        self._since = self.clock

    def _counts(
        self, stream: int, key: int, clock: int
    ) -> list[tuple[float, float, float]]:
        """Count a key on each other stream, at both paces, and what is usual there."""
        found = []
        for other in set(range(len(self.keep))) - {stream}:
            ages = [
                (clock - row.time) / self.window
                for row in self._counted
                if row.stream == other and row.key == key
            ]
            slow, fast = (sum(0.5 ** (age * by) for age in ages) for by in (1, 10))
            everything = sum(
                0.5 ** ((clock - row.time) / self.window)
                for row in self._counted
                if row.stream == other
            )
            found.append((slow, fast, everything / WIDTH))
        return found

    def _faded(self, clock: int) -> float:
        """What is left of the first row at the slow pace, after a tick at least."""
        return math.exp2(-max((clock - self._first) / self.window, 1 / AGES))

    def _level(self, stream: int, key: int, clock: int) -> int:
        count = math.prod(slow for slow, *_ in self._counts(stream, key, clock))
        return min(LEVELS - 1, int(2.0 * math.log2(max(count, 0.5)) + 2.0))

    def news(self, stream: int, key: int) -> float:
        """How much more often a key comes than the slow pace says."""
        factor, faded = 1.0, self._faded(self.clock)
        for slow, fast, usual in self._counts(stream, key, self.clock):
            if slow:
                steady = slow / (1.0 - faded)
                factor *= best_count(slow, fast, faded, usual) / steady
        return factor

    def _rates(self, stream: int, level: int) -> list[float]:
        """Results per second by age, of rows whose key is frequent to a level."""
        matches, seconds = (
            [
                [table.get((stream, n, age), 0.0) for age in range(AGES)]
                for n in range(24)
            ]
            for table in (self._matches, self._seconds)
        )
        per_count = math.log(2.0) / (self.window * 1e-6)
        typical = [per_count * 2.0 ** ((n - 1.5) / 2.0) for n in range(LEVELS)]
        hoped = sum(sum(seconds[n]) * typical[n] for n in range(LEVELS))
        factor = (sum(map(sum, matches)) + STRENGTH) / (hoped + STRENGTH)
        factor = min(max(factor, 0.01), 100.0)
        leaning = [
            (sum(matches[n]) + STRENGTH)
            / (sum(seconds[n]) + STRENGTH / (factor * typical[n]))
            for n in range(LEVELS)
        ]
        shapes = shared_shape(matches, seconds, leaning)
        rates = []
        for age in range(AGES):
            prior = STRENGTH / max(leaning[level] * shapes[age], 1e-30)
            rates.append(
                (matches[level][age] + STRENGTH) / (seconds[level][age] + prior)
            )
        return rates

    def priority(self, stream: int, key: int, age_us: int) -> float:
        """Best mean rate of results from an age on, between two ages in proportion."""
        rates = self._rates(stream, self._level(stream, key, self.clock))
        at = min(age_us * AGES / self.keep[stream], AGES - 1.0)
        best = [
            max(sum(rates[age:end]) / (end - age) for end in range(age + 1, AGES + 1))
            for age in (int(at), min(int(at) + 1, AGES - 1))
        ]
        between = best[0] + (at - int(at)) * (best[1] - best[0])
        return self.news(stream, key) * between

    def worth(self, stream: int, importance: float) -> float:
        """Mean of the lesser importance with rows of the other streams."""
        total = weights = 0.0
        for clock, rows in self._batches:
            weight = 0.5 ** ((self.clock - clock) / self.window)
            for row in rows:
                if row.stream != stream and math.isfinite(row.importance):
                    total += weight * min(importance, row.importance)
                    weights += weight
        if weights:
            return total / weights
        return importance if math.isfinite(importance) else 1.0
