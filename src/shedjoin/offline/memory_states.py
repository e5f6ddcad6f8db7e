"""Which rows a memory of few rows should hold, and when, to gain most."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.kernels.memory_states import (
    WORD_BITS,
    Gains,
    States,
    branch,
    compare,
    gain,
)
from shedjoin.types import FloatArray, IntArray

_MOST = 10_000_000
"""States of all steps that are held, to find the way back: 160 megabytes."""

_MOST_AT_ONCE = 4_000_000
"""States that one step may lead to before equal ones are found: 200 megabytes."""

_MOST_COMPARED = 2000
"""Rows that are compared with each other at a step; if there are more, none are."""

Step: TypeAlias = tuple[IntArray, IntArray]
"""For each state after a step, the one that it is from, and the row that left."""


def most_gained(
    leave: IntArray, gains: Gains, capacity: int, *, ranked: bool = True
) -> IntArray:
    """Step at which each row leaves, such that most is gained.

    Row i comes at step i. If there are more rows than fit, one of them leaves.

    Parameters
    ----------
    leave : array of int
        Step at which each row leaves by itself, later than it comes.
    gains : Gains
        What is gained if a row is held after a step.
    capacity : int
        Rows that fit.
    ranked : bool, default True
        No row leaves while another one is held that gains no more than it does up to
        any step. That leaves fewer states, and one of those that gain most.

    Returns
    -------
    array of int
        Step at which the row leaves; its own if it is not held at all.

    Notes
    -----
    *Cost.* O(c**2) for each memory state with a capacity of c. States of one step are
    at most the ways to choose c of the rows that could be there; those of all steps
    are held until no state of the present step is from them.

    Examples
    --------
    >>> leave = np.array([3, 3, 3])
    >>> gains = Gains(np.array([0, 1, 1, 2]), np.array([1, 2]), np.array([2.0, 1.0]))
    >>> most_gained(leave, gains, capacity=1).tolist()
    [2, 1, 3]
    """
    rows = leave.size
    steps = np.arange(rows)
    oldest = np.searchsorted(np.maximum.accumulate(leave), steps, side="right")
    span = steps - oldest + 1
    there = steps + 1 - np.searchsorted(np.sort(leave), steps, side="right")
    ranks = ranked & (there > capacity) & (span <= _MOST_COMPARED)
    gain_row, gain_weight, bounds = _by_step(gains)
    states = States(
        np.zeros(-(-int(span.max(initial=1)) // WORD_BITS), np.int64), np.zeros(1)
    )
    taken: list[Step] = []
    held, nothing = 0, np.zeros(0, np.bool_)
    for step, first in enumerate(oldest.tolist()):
        _few_enough(states.gained.size * (capacity + 1), _MOST_AT_ONCE, step, rows)
        better = compare(step, first, leave, gains) if ranks[step] else nothing
        layer = branch(states, leave, step, first, capacity, better)
        states = layer.states
        some = slice(bounds[step], bounds[step + 1])
        gain(gain_row[some], gain_weight[some], states)
        taken.append((layer.previous, layer.victim))
        held += states.gained.size
        if held > _MOST:
            held = _forget(taken)
            _few_enough(held, _MOST // 2, step, rows)
    return _way_back(leave, taken, int(np.argmax(states.gained)))


def _by_step(gains: Gains) -> tuple[IntArray, FloatArray, IntArray]:
    """Rows and weights by rising step, and where each step begins."""
    row = np.repeat(np.arange(gains.start.size - 1), np.diff(gains.start))
    order = np.argsort(gains.step, kind="stable")
    bounds = np.searchsorted(gains.step[order], np.arange(gains.start.size))
    return row[order], gains.weight[order], bounds


def _forget(taken: list[Step]) -> int:
    """Drop states that none of the last step is from; how many are left."""
    held, used = 0, np.arange(taken[-1][0].size)
    for step in range(len(taken) - 1, -1, -1):
        previous, victim = (column[used] for column in taken[step])
        used, previous = np.unique(previous, return_inverse=True)
        taken[step] = previous, victim
        held += victim.size
    return held


def _way_back(leave: IntArray, taken: list[Step], state: int) -> IntArray:
    leaves = leave.copy()
    for step in range(len(taken) - 1, -1, -1):
        previous, victim = taken[step]
        if victim[state] >= 0:
            leaves[victim[state]] = step
        state = int(previous[state])
    return leaves


def _few_enough(states: int, most: int, step: int, rows: int) -> None:
    if states > most:
        raise ParameterError(
            f"There are too many memory states to try: {states} after {step + 1} of "
            f"{rows} rows, of at most {most}.",
            fix="take a shorter window or fewer rows of memory: states are the ways to "
            "choose the rows of the memory from those in a window.",
        )
