"""Age curves by brute force: one arrival per time unit, every way to shed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Ages = frozenset[int]


def best_rate(curve: Sequence[int], memory: int) -> Fraction:
    """Results per unit time of the best of all ways to shed: Karp's mean cycle."""
    states = [
        frozenset(ages)
        for size in range(memory + 1)
        for ages in combinations(range(len(curve)), size)
    ]
    steps = {state: followers(state, len(curve), memory) for state in states}
    gain = {state: sum(curve[age] for age in state) for state in states}
    best: list[dict[Ages, int]] = [{frozenset(): 0}]
    for _ in states:
        reached: dict[Ages, int] = {}
        for state, total in best[-1].items():
            for after in steps[state]:
                value = total + gain[after]
                reached[after] = max(reached.get(after, value), value)
        best.append(reached)
    n = len(states)
    return max(
        min(
            Fraction(total - best[k][state], n - k)
            for k in range(n)
            if state in best[k]
        )
        for state, total in best[n].items()
    )


def followers(state: Ages, window: int, memory: int) -> list[Ages]:
    """What may be kept one time unit later, the newcomer of age 0 included."""
    offered = [0, *(age + 1 for age in state if age + 1 < window)]
    return [
        frozenset(kept)
        for size in range(min(memory, len(offered)) + 1)
        for kept in combinations(offered, size)
    ]


def by_priority(
    curve: Sequence[float], priority: Sequence[float], memory: int, steps: int
) -> tuple[list[list[int]], list[float]]:
    """Arrivals kept and results in each time unit; the lowest priority is shed.

    Among equals the newest is shed, so that a cell keeps the tuple it has.
    """
    held: list[int] = []
    holds, results = [], []
    for now in range(1, steps + 1):
        held = [arrival for arrival in held if now - arrival < len(curve)] + [now]
        held.sort(key=lambda arrival: (-priority[now - arrival], arrival))
        held = sorted(held[:memory])
        holds.append(held)
        results.append(sum(curve[now - arrival] for arrival in held))
    return holds, results
