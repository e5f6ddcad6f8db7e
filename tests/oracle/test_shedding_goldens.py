"""The shedding oracle gives the numbers of the papers' examples and figures."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from statistics import mean

import numpy as np
import pytest

from oracle import policies

from .policies import adaptive, every, ijoin, offline_optimum, scripted
from .shedding import (
    Arrival,
    Outcome,
    Resident,
    Rules,
    Score,
    Ties,
    by_instant,
    jain,
    simulate,
)

Instants = list[list[Arrival]]

# ------------------------------------------------------------------- iJoin's example

STREAMS = ("abcddbac", "babbccda")
WORTH = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
EXAMPLE = by_instant(
    Arrival(time, side, ord(value), WORTH[value])
    for side, stream in enumerate(STREAMS)
    for time, value in enumerate(stream, start=1)
)
FLAT = [arrival for instant in EXAMPLE for arrival in instant]


RULES = Rules("shed_then_join", 8, (2, 2))


def example(score: Score, rules: Rules = RULES) -> Outcome:
    return simulate(EXAMPLE, score, rules)


def totals(outcome: Outcome) -> tuple[int, float]:
    return len(outcome.pairs), outcome.importance


def held(outcome: Outcome, side: int) -> str:
    """Values in a buffer after t = 2, 3, .."""
    return " ".join(
        "".join(chr(FLAT[number].key) for number in both[side])
        for both in outcome.buffers[1:]
    )


def test_exact() -> None:
    found = example(policies.fifo, replace(RULES, capacity=None))
    assert totals(found) == (16, 36)
    assert found.gains[1:] == [3, 2, 2, 3, 9, 9, 8]


def test_window_of_section_3_2_is_too_short() -> None:
    rules = replace(RULES, window=7, capacity=None)
    assert totals(example(policies.fifo, rules)) == (15, 35)


def test_fifo() -> None:
    found = example(policies.fifo)
    assert totals(found) == (4, 6)
    assert found.gains[1:] == [3, 2, 0, 0, 0, 0, 1]
    assert held(found, 0) == "ab bc cd dd db ba ac"
    assert held(found, 1) == "ba ab bb bc cc cd da"
    assert example(policies.recent) == found


def scripts(side: int, buffers: str) -> Iterator[dict[int, frozenset[int]]]:
    """Every way to come by the printed buffers, one victim per instant."""

    def go(
        time: int, kept: dict[int, frozenset[int]]
    ) -> Iterator[dict[int, frozenset[int]]]:
        if time > len(STREAMS[side]):
            yield kept
            return
        new = next(n for n, a in enumerate(FLAT) if (a.time, a.side) == (time, side))
        everyone = sorted(kept.get(time - 1, frozenset()) | {new})
        for some in combinations(everyone, min(2, len(everyone))):
            values = sorted(chr(FLAT[number].key) for number in some)
            if time == 1 or values == sorted(buffers.split()[time - 2]):
                yield from go(time + 1, {**kept, time: frozenset(some)})

    return go(1, {})


def test_rand_by_the_printed_buffers() -> None:
    left = list(scripts(0, "ab ac ad dd db ba bc"))
    right = list(scripts(1, "ba ab bb bc bc bd ba"))
    found = [
        example(scripted({time: one[time] | other[time] for time in one}))
        for one, other in product(left, right)
    ]
    assert len(found) == 16
    assert {totals(outcome) for outcome in found} == {(3, 5)}
    assert all(outcome.gains[1:] == [3, 0, 0, 0, 2, 0, 0] for outcome in found)


def test_size() -> None:
    found = example(policies.size)
    assert totals(found) == (6, 11)
    assert found.gains[1:] == [3, 2, 2, 0, 4, 0, 0]
    assert held(found, 0).startswith("ab ab ab ab bb ")
    assert held(found, 1).startswith("ba ab bb bb bb ")


def test_frequency_so_far_is_not_size() -> None:
    assert example(policies.observed).importance == 9


@pytest.mark.parametrize("ties", ["oldest", "newest"])
def test_greedy(ties: Ties) -> None:
    found = example(policies.greedy, replace(RULES, ties=ties))
    assert totals(found) == (5, 13)
    assert found.gains[1:] == [3, 2, 0, 0, 0, 8, 0]
    assert held(found, 0) == "ab bc cd dd dd dd dd"
    assert held(found, 1) == "ba bb bb bc cc cd cd"


def test_what_is_dropped_does_not_probe() -> None:
    rules = replace(RULES, dropped_probe=True)
    assert totals(example(policies.greedy, rules)) == (6, 16)
    assert totals(example(policies.fifo, rules)) == (4, 6)


def test_offline_optimum() -> None:
    importance, script = offline_optimum(EXAMPLE, (2, 2), 8, by="importance")
    size, _ = offline_optimum(EXAMPLE, (2, 2), 8, by="size")
    found = example(scripted(script))
    assert totals(found) == (size, importance) == (9, 21)


@pytest.mark.parametrize(
    ("tau", "expected"), [(0, (5, 9)), (1, (4, 6)), (2, (5, 10)), (3, (2, 3))]
)
def test_ijoin(tau: int, expected: tuple[int, float]) -> None:
    found = example(ijoin(tau, 3, 1.0))
    assert totals(found) == expected
    if tau == 0:
        assert found.gains[1:] == [3, 2, 2, 0, 2, 0, 0]
    if tau == 1:
        assert found.buffers == example(policies.fifo).buffers
    settings = product((1, 2, 3, 5), (0.1, 0.5, 1.0, 2.0), (None, 0.1, 1.0))
    scanned = {example(ijoin(tau, *setting)).importance for setting in settings}
    assert scanned == ({8, 9} if tau == 0 else {expected[1]})


@pytest.mark.parametrize("tau", [2, 3])
def test_ijoin_with_other_victims_when_nobody_is_mature(tau: int) -> None:
    assert example(ijoin(tau, 3, 1.0, fallback="oldest")).importance == 6
    assert example(ijoin(tau, 3, 1.0, fallback="lowest")).importance in {8, 9}


@pytest.mark.parametrize(("tau", "expected"), [(0, (6, 10)), (1, (4, 6)), (2, (5, 10))])
def test_ijoin_now(tau: int, expected: tuple[int, float]) -> None:
    found = example(ijoin(tau, 3, 1.0), replace(RULES, look_ahead=True))
    assert totals(found) == expected


def resident(time: int, match_times: list[int]) -> Resident:
    return Resident(0, time, 0, 0, 4.0, max(match_times), 4.0, match_times)


def test_formulas() -> None:
    priority = policies.residence_priority
    assert priority(resident(2, [2, 5, 6]), 8, 9, 1.0, None) == 2.0
    local = resident(2, [2, 5, 6])
    assert local.decayed_matches(8, 0.1) == pytest.approx(2.108361, abs=1e-6)
    assert priority(local, 8, 9, 1.0, 0.1) == pytest.approx(1.405574, abs=1e-6)
    assert priority(local, 10, 3, 0.5, None) == -0.5
    assert priority(local, 10, 5, 0.5, None) == 1.5
    assert priority(Resident(0, 3, 0, 0, 4.0, 3, 4.0), 3, 1, 1.0, None) == 4.0
    assert jain([5, 5, 5, 0]) == 0.75
    assert jain([1, 2, 3]) == pytest.approx(0.857143, abs=1e-6)


# ------------------------------------------------------- iJoin's section 5, unit steps


def stream(
    seed: int, *, domain: int = 100, law: str = "uniform", worth: str = "own"
) -> Instants:
    """500 instants, one arrival per side; importance of its own, by value or equal."""
    random = np.random.default_rng(seed)
    by_value = random.permutation(domain) + 1
    zipf = 1 / np.arange(1, domain + 1)
    hot = np.arange(5)
    instants = []
    for time in range(500):
        if time % 25 == 0:
            hot = random.choice(domain, 5, replace=False)
        instant = []
        for side in (0, 1):
            key = int(random.integers(domain))
            if law == "zipf":
                key = int(random.choice(domain, p=zipf / zipf.sum()))
            elif law == "drift" and random.random() < 0.3:
                key = int(random.choice(hot))
            own = {"own": random.integers(1, 101), "value": by_value[key], "equal": 1}
            instant.append(Arrival(time, side, key, float(own[worth])))
        instants.append(instant)
    return instants


@cache
def streams(law: str, worth: str, seeds: int = 6, domain: int = 100) -> list[Instants]:
    return [stream(s, law=law, worth=worth, domain=domain) for s in range(seeds)]


PLAIN = Rules("shed_then_join", 25, (5, 5))
NOW = replace(PLAIN, look_ahead=True)
NEWEST = replace(PLAIN, ties="newest")


def runs(data: list[Instants], score: Score, rules: Rules = PLAIN) -> list[Outcome]:
    return [simulate(one, score, rules) for one in data]


def importance(found: list[Outcome]) -> float:
    return mean(outcome.importance for outcome in found)


def fairness(found: list[Outcome]) -> float:
    return mean(jain(outcome.lifetimes) for outcome in found)


def compared(
    law: str, worth: str, score: Score, rules: Rules
) -> dict[str, list[Outcome]]:
    """Run the other policies beside an iJoin."""
    data = streams(law, worth)
    return {
        "fifo": runs(data, policies.fifo),
        "rand": runs(data, policies.rand(7)),
        "size": runs(data, policies.size),
        "prob": runs(data, policies.observed),
        "greedy": runs(data, policies.greedy, NEWEST),
        "ijoin": runs(data, score, rules),
    }


def ranked(found: dict[str, list[Outcome]]) -> list[str]:
    return sorted(found, key=lambda name: -importance(found[name]))


def test_fairness_of_greedy_and_fifo() -> None:
    data = streams("uniform", "equal", seeds=1, domain=20)
    greedy = runs(data, policies.greedy, NEWEST)
    assert fairness(greedy) == pytest.approx(5 / 25, abs=5e-4)
    assert fairness(runs(data, policies.fifo)) == pytest.approx(0.998, abs=5e-4)


@pytest.mark.parametrize(
    ("window", "expected"), [(10, 0.89), (15, 0.71), (20, 0.53), (25, 0.41)]
)
def test_fairness_of_size_falls_with_the_window(window: int, expected: float) -> None:
    found = runs(
        streams("uniform", "own"), policies.size, replace(PLAIN, window=window)
    )
    assert fairness(found) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("worth", ["own", "value"])
def test_ijoin_now_is_best_on_drifting_data(worth: str) -> None:
    found = compared("drift", worth, ijoin(2, 3, 1.0), NOW)
    assert ranked(found)[:2] == ["ijoin", "size"]
    assert fairness(found["ijoin"]) == pytest.approx(0.67, abs=0.04)
    local = runs(streams("drift", worth), ijoin(2, 3, 1.0, 0.1), NOW)
    assert fairness(local) == pytest.approx(0.80, abs=0.04)


def test_ijoin_plain_on_drifting_data() -> None:
    found = compared("drift", "own", ijoin(2, 3, 1.0, 0.1), PLAIN)
    del found["size"]  # matches so far: better than plain iJoin
    assert ranked(found)[0] == "ijoin"
    assert fairness(found["ijoin"]) == pytest.approx(0.83, abs=0.03)


@pytest.mark.parametrize(
    ("law", "worth", "best"),
    [("zipf", "value", "prob"), ("uniform", "value", "greedy")],
)
def test_ijoin_is_not_best_everywhere(law: str, worth: str, best: str) -> None:
    assert ranked(compared(law, worth, ijoin(2, 3, 1.0), NOW))[0] == best


@pytest.mark.parametrize(("window", "expected"), [(10, 0.92), (25, 0.84)])
def test_fairness_of_ijoin_now(window: int, expected: float) -> None:
    found = runs(
        streams("uniform", "own"), ijoin(2, 3, 1.0), replace(NOW, window=window)
    )
    assert fairness(found) == pytest.approx(expected, abs=0.02)


def test_penalty_trades_importance_for_fairness() -> None:
    data = streams("drift", "value")
    found = [runs(data, ijoin(2, 3, c, 0.1)) for c in (0.1, 1.0, 10.0)]
    assert importance(found[0]) > importance(found[1]) > importance(found[2])
    for some, expected in zip(found, (0.60, 0.83, 0.95), strict=True):
        assert fairness(some) == pytest.approx(expected, abs=0.03)


def test_room_for_the_immature_alone_makes_ijoin_fifo() -> None:
    data = streams("drift", "own", seeds=2)
    rules = replace(PLAIN, capacity=(3, 3))
    found = runs(data, ijoin(2, 3, 1.0, 0.1), rules)
    fifo = runs(data, policies.fifo, rules)
    assert [one.buffers for one in found] == [one.buffers for one in fifo]


def test_equal_importances() -> None:
    size = {}
    for domain in (10, 20):
        data = streams("uniform", "equal", domain=domain)
        fifo, found = runs(data, policies.fifo), runs(data, ijoin(2, 3, 1.0))
        greedy = runs(data, policies.greedy, NEWEST)
        size[domain] = importance(found)
        assert size[domain] == pytest.approx(importance(fifo), rel=0.06)
        assert importance(greedy) < 0.3 * size[domain]
    assert size[10] / size[20] == pytest.approx(2, rel=0.1)


def test_recomputation() -> None:
    data = streams("drift", "own")
    often = runs(data, ijoin(2, 3, 1.0, 0.1))
    stale = runs(data, ijoin(2, 3, 1.0, 0.1, recompute=every(10)))
    adapted = runs(data, ijoin(2, 3, 1.0, 0.1, recompute=adaptive(0.2)))
    assert all(one.recomputations == sum(one.sheds) for one in often)
    assert mean(one.recomputations for one in often) == pytest.approx(990, abs=3)
    assert {one.recomputations for one in stale} == {100}
    assert mean(one.recomputations for one in adapted) == pytest.approx(526, abs=40)
    assert importance(often) > max(importance(stale), importance(adapted))
    for some, expected in ((often, 0.830), (stale, 0.843), (adapted, 0.890)):
        assert fairness(some) == pytest.approx(expected, abs=0.02)
