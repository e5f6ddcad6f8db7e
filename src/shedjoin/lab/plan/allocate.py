"""Divides one memory among several joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shedjoin.errors import ParameterError
from shedjoin.plan.model import (
    Model,
    as_share,
    at_least_zero,
    positive,
    predicted_recall,
)

_HALVINGS = 60
_ENOUGH = 1 - 1e-12
"""Relative tolerance: a recall this close to the wanted one counts as reached."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of each join in tuples, and the recall predicted for it.

    Examples
    --------
    >>> Allocation(memory=(3.0, 1.0), recall=(0.75, 0.5)).minimum
    0.5
    """

    memory: tuple[float, ...]
    recall: tuple[float, ...]

    @property
    def minimum(self) -> float:
        """Recall of the join with the lowest recall."""
        return min(self.recall)


def allocate(
    total: float, joins: Sequence[Model], weights: Sequence[float] | None = None
) -> Allocation:
    """Divide memory among joins so that the worst recall is as high as possible [1]_.

    Parameters
    ----------
    total : float
        Tuples that all joins together may keep.
    joins : sequence of Model
        The joins. For both windows of one join, pass a ``JoinModel``.
    weights : sequence of float, optional
        Importance of each join: the least ``recall / weight`` is maximised. By default,
        all weights are equal.

    Returns
    -------
    Allocation
        In the order of ``joins``. The memories sum to less than ``total`` if all joins
        are exact with less.

    Notes
    -----
    *Source.* ALLOC, section 5 of [1]_.

    *Symbols.* ``total`` is M, ``weights`` are w, ``memory_for`` is f(q).

    *Departures.* When a join has reached recall 1, the remaining memory goes to the
    others. The paper stops there. ``allocate_errors`` does the same for errors of
    aggregates.

    *Guarantee.* The least ``recall / weight`` is maximal, to twelve digits, if models
    are continuous.

    *Cost.* 3,600 predictions of each model.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> easy, hard = AgeModel([3, 1, 0, 0]), AgeModel([1, 1, 1, 1])
    >>> plan = allocate(4, [easy, hard])
    >>> [round(memory, 3) for memory in plan.memory], round(plan.minimum, 3)
    ([1.0, 3.0], 0.75)
    """
    shares = shares_of(total, joins, weights)

    def needed(level: float) -> tuple[float, ...]:
        wanted = (min(1.0, level * share) for share in shares)
        return tuple(map(memory_for, joins, wanted))

    return _foreseen(best_within(total, needed, 1 / min(shares)), joins)


def proportional(total: float, joins: Sequence[Model]) -> Allocation:
    """Divide memory among joins in proportion to what each needs to be exact [1]_.

    Parameters
    ----------
    total : float
        Tuples that all joins together may keep.
    joins : sequence of Model
        The joins.

    Returns
    -------
    Allocation
        In the order of ``joins``; no join gets more than it needs.

    Notes
    -----
    *Source.* PROP, section 6.2.5 of [1]_; for comparison with ``allocate``.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> easy, hard = AgeModel([3, 1, 0, 0]), AgeModel([1, 1, 1, 1])
    >>> proportional(4, [easy, hard])
    Allocation(memory=(2.0, 2.0), recall=(1.0, 0.5))
    """
    shares_of(total, joins, None)
    demand = sum(join.demand for join in joins)
    part = min(1.0, total / demand) if demand > 0 else 1.0
    return _foreseen(tuple(part * join.demand for join in joins), joins)


def memory_for(model: Model, recall: float) -> float:
    """Least memory with which a model is predicted to reach a recall.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> round(memory_for(AgeModel([1, 1, 2, 1]), 0.8), 6)
    3.0
    """
    as_share("recall", recall)
    low, high = 0.0, model.demand
    if predicted_recall(model, low) >= recall:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if predicted_recall(model, middle) >= recall * _ENOUGH:
            high = middle
        else:
            low = middle
    return high


def best_within(
    total: float, needed: Callable[[float], tuple[float, ...]], highest: float
) -> tuple[float, ...]:
    """Return the memory of each join at the highest level that all can reach.

    ``needed`` gives the memory of each join for a level, which it rises with. Levels
    are from 0 to ``highest``.

    Examples
    --------
    >>> best_within(9.0, lambda level: (level, 2 * level), highest=1.0)
    (1.0, 2.0)
    """
    if sum(needed(highest)) <= total:
        return needed(highest)
    low, high = 0.0, highest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if sum(needed(middle)) <= total:
            low = middle
        else:
            high = middle
    return needed(low)


def shares_of(
    total: float, joins: Sequence[object], weights: Sequence[float] | None
) -> list[float]:
    """Check the arguments of a division, and return the weight of each join."""
    at_least_zero("total", total)
    if not joins:
        raise ParameterError(
            "There is no join to give memory to.", fix="pass at least one model."
        )
    shares = [1.0] * len(joins) if weights is None else list(weights)
    if len(shares) != len(joins):
        raise ParameterError(
            f"{len(shares)} weights were passed for {len(joins)} joins.",
            fix="pass one weight for each join.",
        )
    for share in shares:
        positive("weight", share)
    return shares


def _foreseen(memory: tuple[float, ...], joins: Sequence[Model]) -> Allocation:
    return Allocation(memory, tuple(map(predicted_recall, joins, memory)))
