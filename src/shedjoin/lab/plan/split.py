"""Divides one memory between the two windows of a join."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

import numpy as np
from scipy.optimize import minimize_scalar

from shedjoin.plan.model import (
    ConcaveModel,
    FloatArray,
    Knots,
    Model,
    at_least_zero,
)

_MOST_TRIALS = 4096
"""Limit of the splits that are tried before the best one is refined."""

_SAME_SLOPE = 1e-9
"""Relative difference below which two marginal yields are equal."""


@dataclass(frozen=True, slots=True)
class Split:
    """Memory of each window in tuples, with the predicted results and recall.

    Examples
    --------
    >>> Split(left=1.0, right=2.0, results=3.0, recall=0.5).right
    2.0
    """

    left: float
    right: float
    results: float
    recall: float


@dataclass(frozen=True, slots=True)
class JoinModel(ConcaveModel):
    """Both windows of a join as one model, with its memory split in the best way.

    Parameters
    ----------
    left, right : ConcaveModel
        The windows.

    Notes
    -----
    *Source.* Sections 3.2.2 and 3.3 of [1]_.

    *Guarantee.* Exact: each further tuple of memory goes to the window where it adds
    the most results.

    *Cost.* O(n log n) for n knots, once.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> join = JoinModel(AgeModel([3, 1]), AgeModel([2, 2]))
    >>> join.demand, [join.results(memory) for memory in (1, 2, 3, 4)]
    (4.0, [3.0, 5.0, 7.0, 8.0])
    """

    left: ConcaveModel
    right: ConcaveModel
    knots: Knots = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lengths, gains, _ = _pieces(self.left, self.right)
        steepest = np.argsort(-gains / lengths, kind="stable")
        memory, results = (
            np.concatenate(([0.0], np.cumsum(column[steepest])))
            for column in (lengths, gains)
        )
        object.__setattr__(self, "knots", Knots(memory, results))


def split(memory: float, left: Model, right: Model) -> Split:
    """Divide memory between two windows so that the join loses fewest results [1]_.

    Parameters
    ----------
    memory : float
        Tuples that both windows together may keep. Memory that exceeds the demand of
        both is not assigned.
    left, right : Model
        The windows. The results of both must be in the same unit of time.

    Returns
    -------
    Split
        Memory of each window, predicted results and recall.

    Notes
    -----
    *Source.* Sections 3.2.2 and 3.3 of [1]_, which ask for the best split but do not
    say how to find it.

    *Departures.* If a further tuple adds equally many results in both windows, they
    share the remaining memory, in proportion to how much they can use.

    *Guarantee.* Exact if both are a ``ConcaveModel``. For other models, splits are
    tried in steps of one tuple, or in 4096 equal steps if the memory is larger. Then
    the search is refined around the best split.

    *Cost.* O(n log n) for n knots. For other models, about 4100 predictions of each
    model.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> split(2, AgeModel([3, 1]), AgeModel([2, 2]))
    Split(left=1.0, right=1.0, results=5.0, recall=0.625)
    """
    at_least_zero("memory", memory)
    if memory >= left.demand + right.demand:
        parts = left.demand, right.demand
    elif isinstance(left, ConcaveModel) and isinstance(right, ConcaveModel):
        parts = _by_slope(memory, left, right)
    else:
        parts = _by_trial(memory, left, right)
    results = left.results(parts[0]) + right.results(parts[1])
    exact = left.results(left.demand) + right.results(right.demand)
    return Split(*parts, results, min(1.0, results / exact) if exact > 0 else 1.0)


def _pieces(
    left: ConcaveModel, right: ConcaveModel
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Memory, results and window of each straight piece of both curves."""
    curves = (left.knots, right.knots)
    lengths = np.concatenate([np.diff(knots.memory) for knots in curves])
    gains = np.concatenate([np.diff(knots.results) for knots in curves])
    sides = np.repeat([0.0, 1.0], [knots.memory.size - 1 for knots in curves])
    used = lengths > 0
    return lengths[used], gains[used], sides[used]


def _by_slope(
    memory: float, left: ConcaveModel, right: ConcaveModel
) -> tuple[float, float]:
    lengths, gains, sides = _pieces(left, right)
    slopes = gains / lengths
    steepest = np.argsort(-slopes, kind="stable")
    filled = int(np.searchsorted(np.cumsum(lengths[steepest]), memory))
    marginal = slopes[steepest[min(filled, slopes.size - 1)]]
    level = np.abs(slopes - marginal) <= _SAME_SLOPE * marginal
    whole = (slopes > marginal) & ~level
    rest = memory - lengths[whole].sum()
    taken = lengths * whole + lengths * level * (rest / lengths[level].sum())
    for_left = min(float(taken[sides == 0].sum()), left.demand, memory)
    return for_left, min(memory - for_left, right.demand)


def _by_trial(memory: float, left: Model, right: Model) -> tuple[float, float]:
    low, high = max(0.0, memory - right.demand), min(memory, left.demand)

    def lost(for_left: float) -> float:
        return -left.results(for_left) - right.results(max(0.0, memory - for_left))

    trials = np.linspace(low, high, min(ceil(high - low), _MOST_TRIALS) + 1)
    losses = [lost(float(trial)) for trial in trials]
    best = int(np.argmin(losses))
    around = trials[max(best - 1, 0)], trials[min(best + 1, trials.size - 1)]
    found = float(trials[best])
    if around[0] < around[1]:
        refined = minimize_scalar(lost, bounds=around, method="bounded")
        if refined.fun < losses[best]:
            found = float(refined.x)
    return found, max(0.0, memory - found)
