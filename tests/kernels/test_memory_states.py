"""Steps of the program over memories, against sets of rows."""

from __future__ import annotations

import numpy as np
import pytest

from shedjoin.lab.kernels.memory_states import (
    WORD_BITS,
    Gains,
    Layer,
    States,
    branch,
    compare,
    gain,
)
from shedjoin.types import BoolArray, IntArray

Held = frozenset[int]


def states_of(sets: dict[Held, float], width: int) -> States:
    words = np.zeros(len(sets) * width, np.int64)
    for place, rows in enumerate(sets):
        for row in rows:
            slot = row % (width * WORD_BITS)
            words[place * width + slot // WORD_BITS] |= 1 << (slot % WORD_BITS)
    return States(words, np.array(list(sets.values())))


def sets_of(layer: Layer, width: int, oldest: int, step: int) -> list[Held]:
    def holds(place: int, row: int) -> bool:
        slot = row % (width * WORD_BITS)
        word = int(layer.states.words[place * width + slot // WORD_BITS])
        return bool(word >> (slot % WORD_BITS) & 1)

    return [
        frozenset(row for row in range(oldest, step + 1) if holds(place, row))
        for place in range(layer.states.gained.size)
    ]


def plain_branch(
    sets: dict[Held, float], leave: IntArray, step: int, capacity: int
) -> dict[Held, tuple[float, int, int]]:
    """What was gained, from which state, and who left, for each state that follows."""
    found: dict[Held, tuple[float, int, int]] = {}
    for place, (rows, gained) in enumerate(sets.items()):
        there = sorted(row for row in rows if leave[row] > step)
        victims = [step, *there] if len(there) >= capacity else [-1]
        for victim in victims:
            follows = frozenset({*there, step} - {victim})
            if follows not in found or gained > found[follows][0]:
                found[follows] = gained, place, victim
    return found


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_branches(width: int, capacity: int, rng: np.random.Generator) -> None:
    for _ in range(50):
        oldest = int(rng.integers(500))
        step = oldest + int(rng.integers(1, width * WORD_BITS))
        leave = rng.integers(step - 1, step + 4, step + 1)
        few = rng.choice(np.arange(oldest, step), min(6, step - oldest), replace=False)
        sets = {
            frozenset(rng.permutation(few)[: rng.integers(capacity + 1)].tolist()): (
                float(rng.integers(4))
            )
            for _ in range(rng.integers(1, 9))
        }
        nothing = np.zeros(0, np.bool_)
        states = states_of(sets, width)
        layer = branch(states, leave, step, oldest, capacity, nothing)
        found = zip(
            sets_of(layer, width, oldest, step),
            layer.states.gained.tolist(),
            layer.previous.tolist(),
            layer.victim.tolist(),
            strict=True,
        )
        expected = plain_branch(sets, leave, step, capacity)
        assert [(rows, tuple(rest)) for rows, *rest in found] == list(expected.items())


def gains_of(weights: list[dict[int, float]]) -> Gains:
    steps = [sorted(each) for each in weights]
    return Gains(
        np.cumsum([0, *map(len, steps)]),
        np.array([step for each in steps for step in each], np.int64),
        np.array([w[s] for w, each in zip(weights, steps, strict=True) for s in each]),
    )


def plain_better(
    one: int, other: int, step: int, weights: list[dict[int, float]]
) -> bool:
    def up_to(row: int, until: int) -> float:
        return sum(w for at, w in weights[row].items() if step <= at <= until)

    ahead = [up_to(one, until) - up_to(other, until) for until in range(step, 20)]
    return min(ahead) >= 0 and (max(ahead) > 0 or one < other)


def test_comparisons(rng: np.random.Generator) -> None:
    seen = 0
    for _ in range(50):
        rows = int(rng.integers(2, 8))
        weights = [
            {
                int(step): float(rng.integers(1, 3))
                for step in rng.choice(np.arange(row, row + 8), 3)
            }
            for row in range(rows)
        ]
        step, oldest = rows - 1, int(rng.integers(rows - 1))
        leave = rng.integers(step, step + 3, rows)
        better = compare(step, oldest, leave, gains_of(weights))
        span = step - oldest + 1
        table: BoolArray = better.reshape(span, span)
        for one in range(oldest, rows):
            for other in range(oldest, rows):
                there = one != other and min(leave[one], leave[other]) > step
                expected = there and plain_better(one, other, step, weights)
                assert table[one - oldest, other - oldest] == expected
                seen += expected
    assert seen > 20


def test_better_rows_stay() -> None:
    """Row 1 gains less than row 0 and is as good as row 2, which is newer."""
    gains = gains_of([{2: 2.0}, {2: 1.0}, {2: 1.0}])
    leave = np.array([3, 3, 3])
    states = states_of({frozenset({0, 1}): 0.0}, 1)
    layer = branch(states, leave, 2, 0, 2, compare(2, 0, leave, gains))
    assert sets_of(layer, 1, 0, 2) == [{0, 1}]
    assert layer.victim.tolist() == [2]


def test_gains_of_the_rows_that_are_held() -> None:
    states = states_of({frozenset({3}): 1.0, frozenset({70, 99}): 2.0}, 2)
    gain(np.array([3, 99, 70, 99]), np.array([1.0, 10.0, 100.0, 1000.0]), states)
    assert states.gained.tolist() == [2.0, 1112.0]
