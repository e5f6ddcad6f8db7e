"""Searches for the rows that a small memory should hold at each step to gain most."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.lab.kernels.memory_states import (
    WORD_BITS,
    Gains,
    States,
    branch,
    compare,
    gain,
)
from shedjoin.types import BoolArray, FloatArray, IntArray

_MOST = 10_000_000
"""Limit of the states that are kept since a cut, to trace the best one back. That many
take 160 megabytes."""

_MOST_AT_ONCE = 4_000_000
"""Limit of the states of one step before equal states are merged. That many take 200
megabytes."""

_MOST_COMPARED = 2000
"""If there are more rows at a step, they are not compared with each other."""

Step: TypeAlias = tuple[IntArray, IntArray]
"""For each state after a step: its former state, and the row that was dropped."""


def most_gained(
    leave: IntArray, gains: Gains, capacity: int, *, ranked: bool = True
) -> IntArray:
    """Step at which each row should be dropped, so that most is gained.

    Row i comes at step i. If there are then more rows than fit, one of them is dropped.

    Parameters
    ----------
    leave : array of int
        Step at which each row is dropped at the latest. It is after the row's own step.
    gains : Gains
        What is gained if a row is held after a step, for each step before ``leave``.
    capacity : int
        Number of rows that fit.
    ranked : bool, default True
        Do not drop a row while another row is held that, up to every later step, gains
        no more than it. So there are fewer states, and one of the best is among them.

    Returns
    -------
    array of int
        Step at which each row is dropped. If a row is not held at all, this is the
        row's own step.

    Notes
    -----
    *Cost.* O(c**2) for each memory state with a capacity of c. A step has at most as
    many states as there are ways to choose c of the rows that could be held. States of
    earlier steps, back to the last cut, are kept as long as present states come from
    them. A stretch between two cuts is not searched if all of its rows fit (see
    ``cuts``).

    Examples
    --------
    >>> leave = np.array([3, 3, 3])
    >>> gains = Gains(np.array([0, 1, 1, 2]), np.array([1, 2]), np.array([2.0, 1.0]))
    >>> most_gained(leave, gains, capacity=1).tolist()
    [2, 1, 3]
    """
    steps = np.arange(leave.size)
    there = steps + 1 - np.searchsorted(np.sort(leave), steps, side="right")
    tight = np.concatenate(([0], np.cumsum(there > capacity)))
    by_step = _by_step(gains)
    leaves = leave.copy()
    for start, end in pairwise([*cuts(leave), leave.size]):
        if tight[start] < tight[end]:
            ranks = ranked & (there[start:end] > capacity)
            part = _Part(leave, gains, by_step, start, ranks)
            _search(part, capacity, into_leaves=leaves)
    return leaves


def cuts(leave: IntArray) -> list[int]:
    """The first step, and all steps at which no earlier row can be held any more.

    At a cut, the memory is empty, whatever was held before. So the best choice before
    the cut and the best choice after it together are the best choice.

    >>> cuts(np.array([2, 2, 4, 4, 5]))
    [0, 2, 4]
    """
    found: list[int] = np.flatnonzero(_oldest(leave) == np.arange(leave.size)).tolist()
    return found


def _oldest(leave: IntArray) -> IntArray:
    """For each step, the first row that may still be held."""
    return np.searchsorted(
        np.maximum.accumulate(leave), np.arange(leave.size), side="right"
    )


class _Part(NamedTuple):
    """Rows from one cut to the next, and the steps at which they are compared."""

    leave: IntArray
    gains: Gains
    by_step: tuple[IntArray, FloatArray, IntArray]
    start: int
    ranks: BoolArray


def _search(part: _Part, capacity: int, into_leaves: IntArray) -> None:
    """Find the steps at which the rows of a part should be dropped."""
    leave, gains, (gain_row, gain_weight, bounds), start, ranks = part
    rows = leave.size
    oldest = start + _oldest(leave[start : start + ranks.size] - start)
    span = np.arange(start, start + ranks.size) - oldest + 1
    ranks = ranks & (span <= _MOST_COMPARED)
    states = States(np.zeros(-(-int(span.max()) // WORD_BITS), np.int64), np.zeros(1))
    taken: list[Step] = []
    held, nothing = 0, np.zeros(0, np.bool_)
    for step, first in enumerate(oldest.tolist(), start):
        _few_enough(states.gained.size * (capacity + 1), _MOST_AT_ONCE, step, rows)
        better = compare(step, first, leave, gains) if ranks[step - start] else nothing
        layer = branch(states, leave, step, first, capacity, better)
        states = layer.states
        some = slice(bounds[step], bounds[step + 1])
        gain(gain_row[some], gain_weight[some], states)
        taken.append((layer.previous, layer.victim))
        held += states.gained.size
        if held > _MOST:
            held = _forget(taken)
            _few_enough(held, _MOST // 2, step, rows)
    _way_back(taken, start, int(np.argmax(states.gained)), into_leaves)


def _by_step(gains: Gains) -> tuple[IntArray, FloatArray, IntArray]:
    """Rows and weights in the order of steps, and the index where each step begins."""
    row = np.repeat(np.arange(gains.start.size - 1), np.diff(gains.start))
    order = np.argsort(gains.step, kind="stable")
    bounds = np.searchsorted(gains.step[order], np.arange(gains.start.size))
    return row[order], gains.weight[order], bounds


def _forget(taken: list[Step]) -> int:
    """Drop states that lead to no state of the last step; return how many remain."""
    held, used = 0, np.arange(taken[-1][0].size)
    for step in range(len(taken) - 1, -1, -1):
        previous, victim = (column[used] for column in taken[step])
        used, previous = np.unique(previous, return_inverse=True)
        taken[step] = previous, victim
        held += victim.size
    return held


def _way_back(taken: list[Step], start: int, state: int, into_leaves: IntArray) -> None:
    for step in range(len(taken) - 1, -1, -1):
        previous, victim = taken[step]
        if victim[state] >= 0:
            into_leaves[victim[state]] = start + step
        state = int(previous[state])


def _few_enough(states: int, most: int, step: int, rows: int) -> None:
    if states > most:
        raise ParameterError(
            f"There are too many memory states to try: {states} after {step + 1} of "
            f"{rows} rows, of at most {most}.",
            fix="take a shorter window or fewer rows of memory: states are the ways to "
            "choose the rows of the memory from those in a window.",
        )
