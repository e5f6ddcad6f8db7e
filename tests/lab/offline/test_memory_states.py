"""The dynamic program: fewer states, and the same optimum as by linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from shedjoin.errors import ParameterError
from shedjoin.lab.kernels.memory_states import Gains
from shedjoin.lab.offline import memory_states
from shedjoin.lab.offline.memory_states import most_gained
from shedjoin.types import IntArray


def drawn(
    rng: np.random.Generator, rows: int, span: int, each: int = 3
) -> tuple[IntArray, Gains]:
    """Rows that gain something at some of the steps that follow."""
    gains = [
        np.sort(row + rng.choice(span, rng.integers(1, each + 1), replace=False))
        for row in range(rows)
    ]
    leave = np.array([steps[-1] + 1 for steps in gains])
    start = np.cumsum([0, *map(len, gains)])
    weight = rng.integers(1, 10, start[-1]).astype(np.float64)
    return np.minimum(leave, rows), Gains(start, np.concatenate(gains), weight)


def gained(leaves: IntArray, gains: Gains) -> float:
    row = np.repeat(np.arange(leaves.size), np.diff(gains.start))
    rows = leaves.size
    return float(gains.weight[(gains.step < leaves[row]) & (gains.step < rows)].sum())


def held(leaves: IntArray) -> IntArray:
    steps = np.arange(leaves.size)
    there = (steps[:, None] <= steps) & (leaves[:, None] > steps)
    count: IntArray = there.sum(0)
    return count


def by_linear_program(leave: IntArray, gains: Gains, capacity: int) -> float:
    """Rows are held for one gain after the other; whole numbers come by themselves.

    Each row of the matrix is a step, and a row that is held is there at a run of them.
    """
    rows = leave.size
    row = np.repeat(np.arange(rows), np.diff(gains.start))
    inside = gains.step < rows
    row, step, weight = row[inside], gains.step[inside], gains.weight[inside]
    steps = np.arange(rows)
    before = np.concatenate(([-1], np.where(row[1:] == row[:-1], step[:-1], -1)))
    begin = np.maximum(row, before + 1)  # what one gain more takes
    covers = (begin <= steps[:, None]) & (steps[:, None] <= step)
    later = np.flatnonzero(np.diff(row) == 0)
    order = np.zeros((later.size, row.size))
    order[np.arange(later.size), later] = -1
    order[np.arange(later.size), later + 1] = 1
    found = linprog(
        -weight,
        A_ub=csr_array(np.concatenate((covers, order))),
        b_ub=np.concatenate((np.full(rows, capacity), np.zeros(later.size))),
        bounds=(0, 1),
    )
    return float(-found.fun)


@pytest.mark.parametrize(
    ("rows", "span", "capacity"),
    [(300, 8, 3), (300, 20, 4), (200, 40, 10), (80, 80, 8)],
)
def test_nothing_gains_more(
    rows: int, span: int, capacity: int, rng: np.random.Generator
) -> None:
    leave, gains = drawn(rng, rows, span)
    leaves = most_gained(leave, gains, capacity)
    assert gained(leaves, gains) == pytest.approx(
        by_linear_program(leave, gains, capacity)
    )
    assert held(leaves).max() <= capacity
    assert (leaves <= leave).all()


@pytest.mark.parametrize("seed", range(30))
def test_ranks_lose_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    leave, gains = drawn(rng, 40, int(rng.integers(3, 12)))
    capacity = int(rng.integers(1, 5))
    one, other = (
        gained(most_gained(leave, gains, capacity, ranked=ranked), gains)
        for ranked in (True, False)
    )
    assert one == other


def test_rows_of_many_words(rng: np.random.Generator) -> None:
    """Some rows stay for long, so that others are far from them."""
    leave, gains = drawn(rng, 400, 10)
    weight = gains.weight.copy()
    last = gains.start[1:] - 1
    step = gains.step.copy()
    step[last[::50]], weight[last[::50]] = 399, 1000.0
    leave[::50] = 400
    gains = Gains(gains.start, step, weight)
    leaves = most_gained(leave, gains, 9)
    assert gained(leaves, gains) == pytest.approx(by_linear_program(leave, gains, 9))


def test_states_that_lead_nowhere_are_forgotten(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave, gains = drawn(rng, 300, 12)
    expected = most_gained(leave, gains, 3, ranked=False)
    forgotten = []

    def forget(taken: list[memory_states.Step]) -> int:
        forgotten.append(was(taken))
        return forgotten[-1]

    was = memory_states._forget
    monkeypatch.setattr(memory_states, "_forget", forget)
    monkeypatch.setattr(memory_states, "_MOST", 5000)
    assert most_gained(leave, gains, 3, ranked=False).tolist() == expected.tolist()
    assert len(forgotten) > 1
    assert max(forgotten) < 2500


@pytest.mark.parametrize("limit", ["_MOST", "_MOST_AT_ONCE"])
def test_too_many_states(
    limit: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave, gains = drawn(rng, 300, 12)
    monkeypatch.setattr(memory_states, limit, 200)
    with pytest.raises(ParameterError, match=r"of at most [12]00\.\nFix: .*window"):
        most_gained(leave, gains, 4, ranked=False)


def test_no_memory_and_no_rows(rng: np.random.Generator) -> None:
    leave, gains = drawn(rng, 10, 4)
    assert most_gained(leave, gains, 0).tolist() == list(range(10))
    nothing = np.zeros(0, np.int64)
    none = Gains(np.zeros(1, np.int64), nothing, np.zeros(0))
    assert most_gained(nothing, none, 3).tolist() == []
