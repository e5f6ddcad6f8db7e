"""All that a shard learns, from lists of all rows: slow and obvious."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from .plain_curve import (
    AGES,
    LEVELS,
    certain,
    level_of_count,
    rates_by_level,
    typical_count,
)

Cell = tuple[int, int, int]
"""Stream, level and age."""


class Arrival(NamedTuple):
    """A row of a stream."""

    stream: int
    key: int
    time: int
    importance: float = math.inf


def best_count(slow: float, fast: float, faded: float) -> float:
    """Steady count of a key from its counts at two paces.

    ``faded`` is what is left at the slow pace of a row that came when counting began.
    """
    if not slow:
        return 0.0
    full, full_fast = 1.0 - faded, 1.0 - faded**10
    expected = slow / full * full_fast / 10.0
    if abs(fast - expected) <= 3.0 * math.sqrt((expected + 1.0) / 2.0):
        return slow / full
    if fast < expected:  # and goes on falling
        return 10.0 * fast / full_fast * fast / expected
    low, high = faded, max(faded, math.exp2(-1 / AGES))
    for _ in range(100):  # how long has it come, if it came evenly and not before
        middle = (low + high) / 2.0
        if sum(middle**n for n in range(10)) / 10.0 < fast / slow:
            low = middle
        else:
            high = middle
    return 10.0 * (fast - math.sqrt(fast / 2.0)) / (1.0 - high**10)


class PlainModels:
    """Counts, curves and worth, by their definitions; every key is monitored.

    Counts of keys have the window as half-life, and a tenth of it at the fast pace;
    evidence of matches has four windows. What counts have not reached yet since the
    first row, rates have not either. Results need a row of every stream.
    """

    def __init__(self, keep: tuple[int, ...]) -> None:
        self.keep, self.window = keep, max(keep)
        self.clock = self._since = self._first = 0
        self._counted: list[Arrival] = []
        self._ghosts: list[Arrival] = []
        self._ticked = 0
        self._batches: list[tuple[int, list[Arrival]]] = []
        self._lately: dict[Cell, float] = defaultdict(float)
        self._matches: dict[Cell, float] = defaultdict(float)
        self._seconds: dict[Cell, float] = defaultdict(float)
        self._keys: dict[tuple[int, int], float] = defaultdict(float)
        self._hoped: dict[int, float] = defaultdict(float)

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
        self._ticked = self._ticked or before
        self.clock = clock
        self._batches.append((clock, rows))
        for row in sorted(rows, key=lambda row: row.stream):
            self._meet(row, before)
            self._ghosts.append(row)
        if (clock - self._since) * AGES >= self.window:
            self._tick(before)
        self._counted += [row._replace(time=min(row.time, clock)) for row in rows]

    def _meet(self, row: Arrival, before: int) -> None:
        """Every result of a row tells how long each of its pairs has waited."""
        met: dict[int, list[tuple[Arrival, int]]] = {
            other: [] for other in range(len(self.keep)) if other != row.stream
        }
        for ghost in self._ghosts:
            if ghost.stream != row.stream and ghost.key == row.key:
                early = ghost if ghost.time <= row.time else row
                waited = abs(row.time - ghost.time)
                if waited <= self.keep[early.stream]:
                    met[ghost.stream].append((early, waited))
        for other, pairs in met.items():
            results = math.prod(len(met[third]) for third in met if third != other)
            for early, waited in pairs:
                level = self._level(early.stream, row.key, before)
                age = min(AGES - 1, waited * AGES // self.keep[early.stream])
                self._lately[early.stream, level, age] += results

    def _tick(self, before: int) -> None:
        self._ticked = self.clock
        passed = self.clock - self._since
        part = 1000 / max(1, sum(self._matches.values()))
        known = min(1, max(0.25, part)) * (self.clock - self._first)
        half_life = min(4 * self.window, known)
        fade = 0.5 ** (passed / half_life)
        for table in (self._matches, self._seconds, self._keys, self._hoped):
            for cell in table:
                table[cell] *= fade  # type: ignore[index]
        for cell, found in self._lately.items():
            self._matches[cell] += found
        self._lately.clear()
        there = [
            ghost
            for ghost in self._ghosts
            if ghost.time + self.keep[ghost.stream] >= self._since
        ]
        for stream, key in {(ghost.stream, ghost.key) for ghost in there}:
            level = self._level(stream, key, before)
            self._keys[stream, level] += passed / self.keep[stream]
        for ghost in there:
            self._wait(ghost, self._level(ghost.stream, ghost.key, before))
        self._since = self.clock

    def _wait(self, ghost: Arrival, level: int) -> None:
        """Count the time since the last tick at every age of a ghost."""
        span = self.keep[ghost.stream] / AGES
        for age in range(AGES):
            start = max(ghost.time + age * span, self._since)
            end = min(ghost.time + (age + 1) * span, self.clock)
            if end > start:
                self._seconds[ghost.stream, level, age] += (end - start) * 1e-6
                self._hoped[ghost.stream] += (
                    (end - start) * 1e-6 * certain(level) * self._steady(level)
                )

    def _steady(self, level: int) -> float:
        """Product of counts that a level comes to, if all goes on as it began.

        As of the last tick, or of one that is under way.
        """
        passed = max((self._ticked - self._first) / self.window, 1 / AGES)
        reached = 1.0 - math.exp2(-passed) if level else 1.0
        return float((typical_count(level) / reached) ** (len(self.keep) - 1))

    def _counts(self, stream: int, key: int, clock: int) -> list[tuple[float, float]]:
        """Count a key on each other stream, at both paces."""
        found = []
        for other in set(range(len(self.keep))) - {stream}:
            ages = [
                (clock - row.time) / self.window
                for row in self._counted
                if row.stream == other and row.key == key
            ]
            slow, fast = (sum(0.5 ** (age * by) for age in ages) for by in (1, 10))
            found.append((slow, fast))
        return found

    def _level(self, stream: int, key: int, clock: int) -> int:
        counts = [slow for slow, _ in self._counts(stream, key, clock)]
        return level_of_count(math.prod(counts) ** (1.0 / len(counts)))

    def news(self, stream: int, key: int) -> float:
        """How much more often a key comes than the slow pace says."""
        factor, passed = 1.0, (self.clock - self._first) / self.window
        faded = math.exp2(-max(passed, 1 / AGES))
        for slow, fast in self._counts(stream, key, self.clock):
            if slow:
                factor *= best_count(slow, fast, faded) * (1.0 - faded) / slow
        return factor

    def _times(self, stream: int, key: int, level: int) -> float:
        """How often a key comes, in parts of what is typical of its level."""
        counts = [slow for slow, _ in self._counts(stream, key, self.clock)]
        if not all(counts):
            return 1.0
        if not level:  # which has no typical count
            return self.news(stream, key)
        typical = typical_count(level) ** len(counts)
        return self.news(stream, key) * math.prod(counts) / typical

    def _rates(self, stream: int, level: int) -> list[float]:
        """Results per second by age, of rows whose key is frequent to a level."""
        matches, seconds = (
            [
                [table.get((stream, n, age), 0.0) for age in range(AGES)]
                for n in range(LEVELS)
            ]
            for table in (self._matches, self._seconds)
        )
        keys = [self._keys.get((stream, n), 0.0) for n in range(LEVELS)]
        others = set(range(len(self.keep))) - {stream}
        windows = sum(  # whose rows wait for that of the last stream
            math.prod(self.keep[other] * 1e-6 for other in others - {last})
            for last in others
        )
        each = windows * (math.log(2.0) / (self.window * 1e-6)) ** len(others)
        expected = [each * self._steady(n) for n in range(LEVELS)]
        hoped = each * self._hoped[stream]
        return rates_by_level(matches, seconds, keys, expected, hoped)[level]

    def priority(self, stream: int, key: int, age_us: int) -> float:
        """Best mean rate of results from an age on, between two ages in proportion."""
        level = self._level(stream, key, self.clock)
        rates = self._rates(stream, level)
        at = min(age_us * AGES / self.keep[stream], AGES - 1.0)
        best = [
            max(sum(rates[age:end]) / (end - age) for end in range(age + 1, AGES + 1))
            for age in (int(at), min(int(at) + 1, AGES - 1))
        ]
        between = best[0] + (at - int(at)) * (best[1] - best[0])
        return self._times(stream, key, level) * between

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
