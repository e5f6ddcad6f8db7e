"""Which rows a small memory should hold, and when, to gain most."""

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
"""Limit of the states kept since a cut, to find the way back: 160 megabytes."""

_MOST_AT_ONCE = 4_000_000
"""Limit of the states of one step before equal ones are merged: 200 megabytes."""

_MOST_COMPARED = 2000
"""Limit of the rows that are compared with each other at a step; if there are more,
none are."""

Step: TypeAlias = tuple[IntArray, IntArray]
"""For each state after a step, the state that it is from, and the row that left."""


def most_gained(
    leave: IntArray, gains: Gains, capacity: int, *, ranked: bool = True
) -> IntArray:
    """Step at which each row should leave, so that most is gained.

    Row i comes at step i. If there are more rows than fit, one of them leaves.

    Parameters
    ----------
    leave : array of int
        Step at which each row leaves by itself, later than it comes.
    gains : Gains
        What is gained if a row is held after a step, until it leaves by itself.
    capacity : int
        Number of rows that fit.
    ranked : bool, default True
        No row leaves while another one is held that gains no more than it does up to
        any step. This leaves fewer states, among them one that gains most.

    Returns
    -------
    array of int
        Step at which each row leaves; its own step if it is not held at all.

    Notes
    -----
    *Cost.* O(c**2) for each memory state with a capacity of c. The states of one step
    are at most the ways to choose c of the rows that could be there. The states of all
    steps since the last cut are kept, as long as states of the present step are from
    them. Stretches between two cuts in which all rows fit are not searched, see
    ``cuts``.

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
    """Steps at which no row of an earlier step is there any more, and the first step.

    At a cut, memory is empty, whatever was held before. So the best choice up to a cut
    and the best choice after it are best together.

    >>> cuts(np.array([2, 2, 4, 4, 5]))
    [0, 2, 4]
    """
    found: list[int] = np.flatnonzero(_oldest(leave) == np.arange(leave.size)).tolist()
    return found


def _oldest(leave: IntArray) -> IntArray:
    """First row that may still be there, for each step."""
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
    """Find when the rows of a part leave."""
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
    """Rows and weights in order of step, and where each step begins."""
    row = np.repeat(np.arange(gains.start.size - 1), np.diff(gains.start))
    order = np.argsort(gains.step, kind="stable")
    bounds = np.searchsorted(gains.step[order], np.arange(gains.start.size))
    return row[order], gains.weight[order], bounds


def _forget(taken: list[Step]) -> int:
    """Drop states that no state of the last step is from; return how many are left."""
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
