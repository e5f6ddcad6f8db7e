"""The shedding oracle under the age model, and small cases of the simulator."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from oracle import policies

from .shedding import Arrival, Order, Outcome, Rules, Score, Ties, simulate

Instants = list[list[Arrival]]

# ---------------------------------------------------------- Srivastava and Widom's age

SMOOTH = (1, 1, 2, 1)
DIPPING = (3, 0, 2)


def age_stream(p: Sequence[int], steps: int) -> Instants:
    """Tuple t arrives at t on side 0; p(k) of side 1 meet it k - 1 units later."""
    return [
        [Arrival(time, 0, time)]
        + [
            Arrival(time, 1, time - old)
            for old, results in enumerate(p)
            for _ in range(results if time > old else 0)
        ]
        for time in range(1, steps + 1)
    ]


def aged(
    instants: Instants, score: Score, window: int, memory: int
) -> tuple[list[set[int]], Outcome]:
    """Keep side 0 only; return the keys held after each instant, too."""
    rules = Rules("probe_then_insert", window, (memory, 0), closed=True)
    found = simulate(instants, score, rules)
    keys = [arrival.key for instant in instants for arrival in instant]
    return [{keys[number] for number in both[0]} for both in found.buffers], found


@cache
def best_results(
    p: tuple[int, ...], memory: int, steps: int, ages: frozenset[int] = frozenset()
) -> int:
    """Most results that any strategy gets, by trying all."""
    if steps == 0:
        return 0
    everyone = sorted(ages | {0})
    return max(
        sum(p[old] for old in kept)
        + best_results(
            p,
            memory,
            steps - 1,
            frozenset(old + 1 for old in kept if old + 1 < len(p)),
        )
        for kept in combinations(everyone, min(memory, len(everyone)))
    )


def optimum(p: tuple[int, ...], memory: int) -> Fraction:
    """Results per unit of time in the long run; the periods here divide 12."""
    gained = best_results(p, memory, 36) - best_results(p, memory, 24)
    return Fraction(gained, 12)


def test_example_3_3_rates() -> None:
    assert policies.best_age(SMOOTH) == 3
    rates = [policies.age_rate(SMOOTH, memory) for memory in (1, 2, 3, 4)]
    assert rates == [Fraction(4, 3), Fraction(8, 3), 4, 5]
    assert [optimum(SMOOTH, memory) for memory in (1, 2, 3)] == rates[:3]
    assert [policies.age_rate(SMOOTH, memory, 2) for memory in (4, 8, 7)] == [
        Fraction(16, 3),
        10,
        9,
    ]


@pytest.mark.parametrize(
    ("p", "memory", "holds", "results"),
    [
        (SMOOTH, 1, "1 1 1 4 4 4 7 7", "1 1 2 1 1 2 1 1"),
        (SMOOTH, 2, "1 1,2 1,2 2,4 4,5 4,5 5,7 7,8", "1 2 3 3 2 3 3 2"),
        (DIPPING, 2, "1 1,2 1,3 3,4 3,5 5,6 5,7 7,8", "3 3 5 3 5 3 5 3"),
    ],
)
def test_age_examples(
    p: tuple[int, ...], memory: int, holds: str, results: str
) -> None:
    kept, found = aged(age_stream(p, 8), policies.age(p), len(p), memory)
    assert kept == [set(map(int, some.split(","))) for some in holds.split()]
    assert found.gains == list(map(float, results.split()))
    long = aged(age_stream(p, 36), policies.age(p), len(p), memory)[1].gains
    assert sum(long[24:]) / 12 == float(optimum(p, memory))


def test_example_3_4() -> None:
    assert policies.age_priorities(DIPPING) == [3, 1, 2]
    assert policies.best_age(DIPPING) == 1
    assert optimum(DIPPING, 2) == 4
    assert policies.age_rate(DIPPING, 2) == 3
    _, found = aged(age_stream(DIPPING, 20), policies.recent, 3, 2)
    assert set(found.gains[2:]) == {3.0}


WINDOW = 100
CURVES = {
    "INC": [k**2 for k in range(1, 21)],
    "DEC": [(20 - k) ** 2 for k in range(1, 21)],
    "BELL": [k**2 if k <= 10 else (20 - k) ** 2 for k in range(1, 21)],
}
FIGURE_7 = {  # recall at 10, 30, 50, 70, 90 % of the memory for the whole window
    ("INC", "age"): (0.100, 0.298, 0.496, 0.695, 0.895),
    ("INC", "until_expiry"): (0.100, 0.298, 0.496, 0.695, 0.895),
    ("INC", "recent"): (0.002, 0.031, 0.138, 0.356, 0.733),
    ("DEC", "age"): (0.281, 0.667, 0.886, 0.976, 1.0),
    ("DEC", "until_expiry"): (0.101, 0.300, 0.498, 0.695, 0.892),
    ("DEC", "recent"): (0.281, 0.667, 0.886, 0.976, 1.0),
    ("BELL", "age"): (0.129, 0.392, 0.664, 0.919, 0.998),
    ("BELL", "until_expiry"): (0.100, 0.298, 0.495, 0.693, 0.894),
    ("BELL", "recent"): (0.007, 0.141, 0.574, 0.919, 0.998),
}


@cache
def random_ages(curve: str, steps: int = 9 * WINDOW) -> Instants:
    """One tuple per unit on side 0, five on side 1 that meet ages by the curve."""
    random = np.random.default_rng(11)
    weights = np.repeat(CURVES[curve], WINDOW // 20)
    ages = random.choice(WINDOW, size=(steps, 5), p=weights / weights.sum())
    return [
        [Arrival(time, 0, time)] + [Arrival(time, 1, time - int(old)) for old in some]
        for time, some in enumerate(ages)
    ]


def recall(curve: str, policy: str, percent: int) -> float:
    p = [results for results in CURVES[curve] for _ in range(WINDOW // 20)]
    score = policies.age(p) if policy == "age" else getattr(policies, policy)
    instants = random_ages(curve)
    _, found = aged(instants, score, WINDOW, percent * WINDOW // 100)
    late = found.gains[2 * WINDOW :]
    return sum(late) / (5 * len(late))


@pytest.mark.parametrize("percent", [10, 30, 50, 70, 90])
@pytest.mark.parametrize(("curve", "policy"), FIGURE_7)
def test_figure_7(curve: str, policy: str, percent: int) -> None:
    found = recall(curve, policy, percent)
    expected = FIGURE_7[curve, policy][(percent - 10) // 20]
    assert found == pytest.approx(expected, abs=0.025)
    if policy == "age":
        p = [results for results in CURVES[curve] for _ in range(WINDOW // 20)]
        rate = policies.age_rate(p, percent * WINDOW // 100) / sum(p)
        assert found == pytest.approx(float(rate), abs=0.025)


def test_bell_is_best_at_65_percent() -> None:
    p = [results for results in CURVES["BELL"] for _ in range(25)]
    assert policies.best_age(p) == 325


# ----------------------------------------------------------------- the simulator alone

BOTH: list[Order] = ["shed_then_join", "probe_then_insert"]


@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize(("closed", "pairs"), [(False, []), (True, [(0, 1)])])
def test_window(order: Order, closed: bool, pairs: list[tuple[int, int]]) -> None:
    instants = [[Arrival(0, 0, 1)], [Arrival(5, 1, 1)]]
    rules = Rules(order, 5, None, closed=closed)
    found = simulate(instants, policies.fifo, rules)
    assert found.pairs == pairs
    assert found.lifetimes == [5, 1]


def test_window_per_side() -> None:
    instants = [
        [Arrival(0, 0, 1), Arrival(0, 1, 2)],
        [Arrival(3, 0, 2), Arrival(3, 1, 1)],
    ]
    rules = Rules("probe_then_insert", (3, 2), None, closed=True)
    assert simulate(instants, policies.fifo, rules).pairs == [(0, 3)]


@pytest.mark.parametrize("order", BOTH)
def test_newcomers_of_an_instant_meet_once(order: Order) -> None:
    instants = [[Arrival(0, 1, 1, 3.0), Arrival(0, 0, 1, 2.0), Arrival(0, 0, 1, 5.0)]]
    found = simulate(instants, policies.fifo, Rules(order, 5, None))
    assert sorted(found.pairs) == [(0, 2), (1, 2)]
    assert found.importance == 5.0


def test_a_newcomer_probes_before_it_may_be_dropped() -> None:
    instants = [[Arrival(0, 0, 1)], [Arrival(1, 1, 1)]]
    pairs = {
        order: simulate(instants, policies.fifo, Rules(order, 5, (1, 0))).pairs
        for order in BOTH
    }
    assert pairs == {"shed_then_join": [], "probe_then_insert": [(0, 1)]}


@pytest.mark.parametrize(("ties", "left"), [("oldest", (2, 4)), ("newest", (0, 2))])
def test_ties_and_several_victims(ties: Ties, left: tuple[int, ...]) -> None:
    instants = [
        [Arrival(0, 0, 1, 1.0), Arrival(0, 1, 9)],
        [Arrival(1, 0, 2, 2.0), Arrival(1, 0, 3, 1.0), Arrival(1, 0, 4, 1.0)],
    ]
    rules = Rules("shed_then_join", 5, (2, 2), ties=ties)
    found = simulate(instants, policies.greedy, rules)
    assert found.buffers == [((0,), (1,)), (left, (1,))]
    assert found.sheds == [2, 0]


@pytest.mark.parametrize("order", BOTH)
def test_one_memory_for_both_sides(order: Order) -> None:
    instants = [
        [Arrival(0, 0, 1, 5.0), Arrival(0, 1, 2, 1.0)],
        [Arrival(1, 0, 3, 4.0), Arrival(1, 1, 1, 2.0)],
        [Arrival(2, 0, 4, 3.0)],
    ]
    found = simulate(instants, policies.greedy, Rules(order, 9, 3))
    assert found.buffers == [((0,), (1,)), ((0, 2), (3,)), ((0, 2, 4), ())]
    assert found.sheds == [2, 0]
    assert found.lifetimes == [3, 1, 2, 1, 1]
    assert found.pairs == [(0, 3)]


def test_prob_keeps_what_the_other_side_brings() -> None:
    frequencies = [{1: 1.0}, {1: 0.2, 2: 0.5, 3: 0.3}]
    instants = [[Arrival(time, 0, key)] for time, key in enumerate([3, 1, 2, 3, 4])]
    rules = Rules("probe_then_insert", 9, (2, 2))
    found = simulate(instants, policies.prob(frequencies), rules)
    assert found.buffers[-1] == ((2, 3), ())  # of the equal ones, the oldest left
