"""Results per second by age and level, from lists: slow and obvious."""

from __future__ import annotations

import math

AGES, LEVELS = 64, 32
STRENGTH = 3.0
KEYS = 30.0
"""Keys that what is assumed of any key weighs as much as."""
ByAge = list[float]
ByLevel = list[list[float]]
"""A list by age for each level."""


def typical_count(level: int) -> float:
    """Count in the middle of a level; that of level 8 begins at a half."""
    return math.exp2((level - 9.5) / 2.0)


def level_of_count(count: float) -> int:
    """Half octaves of a count."""
    if count <= 0.0:
        return 0
    return min(LEVELS - 1, max(0, math.floor(2.0 * math.log2(count)) + 10))


def near(age: int, other: int) -> float:
    """How much one age says of another."""
    return 0.7 ** abs(age - other)


def rates_by_age(matches: ByAge, seconds: ByAge) -> ByAge:
    """Results per second by age; ages that nothing has reached go on as the last."""
    known = [age for age in range(AGES) if seconds[age]]
    if not known:
        return [0.0] * AGES
    rates = []
    for age in range(AGES):
        at = min(age, known[-1])
        found, time = (
            sum(near(at, other) * table[other] for other in range(AGES))
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


def shared_shape(matches: ByLevel, seconds: ByLevel, leaning: list[float]) -> ByAge:
    """What came at an age, in parts of the mean or of what levels let expect.

    The greater of both shapes counts.
    """
    met = [sum(line) for line in zip(*matches, strict=True)]
    waited = [sum(line) for line in zip(*seconds, strict=True)]
    likely = [
        sum(map(math.prod, zip(line, leaning, strict=True)))
        for line in zip(*seconds, strict=True)
    ]
    shapes = rates_by_age(met, likely)
    if sum(met) and sum(waited):
        shapes = [rate * sum(likely) / sum(met) for rate in shapes]
        mean = sum(met) / sum(waited)
        by_mean = [rate / mean for rate in rates_by_age(met, waited)]
        shapes = list(map(max, shapes, by_mean))
    return shapes if any(shapes) else [1.0] * AGES


def certain(level: int) -> float:
    """How much the count of a level says of the rate of its key."""
    return 1.0 - 1.0 / (1.0 + typical_count(level) ** 2)


def level_rates(
    matches: ByLevel,
    seconds: ByLevel,
    keys: list[float],
    expected: list[float],
    hoped: float,
) -> list[float]:
    """Results per second of each level, of which something was expected.

    ``hoped`` is what was expected of all levels when they had their time. What is
    expected is corrected by what all levels met, of which those with counts
    below one know little. Then a level's own matches have their say: all the more, the
    more keys they come from.
    """
    met = sum(certain(level) * sum(matches[level]) for level in range(LEVELS))
    factor = min(max((met + KEYS) / (hoped + KEYS), 0.01), 100.0)
    rates = []
    for level in range(LEVELS):
        strength = STRENGTH + KEYS / max(keys[level], 1.0) * sum(matches[level])
        strength *= 1.0 if level else 1 / 32
        lean = strength / (factor * expected[level])
        rates.append((sum(matches[level]) + strength) / (sum(seconds[level]) + lean))
    return rates


def rates_by_level(
    matches: ByLevel,
    seconds: ByLevel,
    keys: list[float],
    expected: list[float],
    hoped: float,
) -> ByLevel:
    """Results per second of every level and age."""
    leaning = level_rates(matches, seconds, keys, expected, hoped)
    shape = shared_shape(matches, seconds, leaning)
    rates = []
    for level in range(LEVELS):
        line = []
        for age in range(AGES):
            weights = [near(age, other) for other in range(AGES)]
            pairs = zip(weights, matches[level], strict=True)
            around = sum(map(math.prod, pairs)) / sum(weights)
            strength = STRENGTH + KEYS / max(keys[level], 1.0) * around
            lean = strength / max(leaning[level] * shape[age], 1e-30)
            own = matches[level][age], seconds[level][age]
            line.append((own[0] + strength) / (own[1] + lean))
        rates.append(line)
    least = 0.0
    for level in range(1, LEVELS):  # who comes more often is not worth less
        mean = sum(rates[level]) / AGES
        least = max(least, mean)
        rates[level] = [rate * least / mean for rate in rates[level]]
    return rates
