"""Divides one memory among several joins whose results are aggregated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Protocol

from scipy.optimize import brentq

from shedjoin.lab.plan.allocate import best_within, shares_of
from shedjoin.lab.plan.cluster_sampling import eq_fraction, pps_inclusion
from shedjoin.lab.plan.clusters import Window
from shedjoin.lab.plan.recall import AgeModel
from shedjoin.lab.plan.sampling import uniform_fraction
from shedjoin.lab.plan.sampling_choice import Scheme
from shedjoin.lab.plan.sampling_error import (
    Aggregate,
    cluster_variance,
    uniform_missed,
    uniform_variance,
)


class ErrorModel(Protocol):
    """Model of an aggregate: its expected error as a function of memory."""

    @property
    def demand(self) -> float:
        """Least number of tuples with which the error is as small as possible."""
        ...

    def error(self, memory: float) -> float:
        """Expected error if ``memory`` tuples are kept; it never rises with memory."""
        ...


@dataclass(frozen=True, slots=True)
class SampledAggregate:
    """An aggregate of the results of one window, estimated from a sample of them.

    Parameters
    ----------
    window : FrequencyModel or AgeModel
        The window.
    aggregate : Aggregate
        What is summed. The error is relative to the sum. For an average,
        ``aggregate.mean`` is 0. Its error is in standard deviations of the value.
    scheme : {"uniform", "pps_cluster", "eq_cluster"}, default "uniform"
        How the window is sampled.

    Examples
    --------
    >>> count = SampledAggregate(AgeModel([1, 1]), Aggregate(period=100), "eq_cluster")
    >>> round(count.error(1.0), 6)
    0.122474
    """

    window: Window
    aggregate: Aggregate
    scheme: Scheme = "uniform"

    @property
    def demand(self) -> float:
        """Least number of tuples with which the error is as small as possible."""
        return self.window.demand

    def error(self, memory: float) -> float:
        """Expected error if ``memory`` tuples are kept."""
        window, aggregate = self.window, self.aggregate
        count = aggregate.period * window.results(window.demand)
        unit = count * (abs(aggregate.mean) or aggregate.sd)
        if unit == 0:
            return 0.0
        if self.scheme == "uniform":
            fraction = uniform_fraction(memory, window)
            missed = uniform_missed(window) * count * aggregate.mean
            spread = uniform_variance(fraction, window, aggregate)
            return hypot(sqrt(spread), missed) / unit
        if self.scheme == "pps_cluster" and not isinstance(window, AgeModel):
            sizes = pps_inclusion(memory, window).probability
            return sqrt(cluster_variance(sizes, window, aggregate)) / unit
        equal = eq_fraction(memory, window)
        return sqrt(cluster_variance(equal, window, aggregate)) / unit


@dataclass(frozen=True, slots=True)
class ErrorAllocation:
    """Memory of each join in tuples, and the error predicted for its aggregate.

    Examples
    --------
    >>> ErrorAllocation(memory=(3.0, 1.0), error=(0.1, 0.2)).maximum
    0.2
    """

    memory: tuple[float, ...]
    error: tuple[float, ...]

    @property
    def maximum(self) -> float:
        """Error of the aggregate with the greatest error."""
        return max(self.error)


def allocate_errors(
    total: float, sums: Sequence[ErrorModel], weights: Sequence[float] | None = None
) -> ErrorAllocation:
    """Divide memory among joins so that the greatest error is as low as possible [1]_.

    Parameters
    ----------
    total : float
        Tuples that all joins together may keep.
    sums : sequence of ErrorModel
        The aggregates, one for each join, such as ``SampledAggregate``.
    weights : sequence of float, optional
        Importance of each join: the greatest ``error * weight`` is minimised. By
        default, all weights are equal.

    Returns
    -------
    ErrorAllocation
        In the order of ``sums``.

    Notes
    -----
    *Source.* Section 5 of [1]_, with an error as the approximation metric. The memory
    for a sampling fraction follows from Theorems 4.2 and 4.3. The error for a fraction
    follows from mean and variance.

    *Symbols.* ``total`` is M, ``weights`` are 1 / w, ``error`` is q_i.

    *Departures.* The paper describes the search for recall, and says that it is similar
    for errors. If the error of a join cannot be as low as that of the others, the join
    gets its ``demand``, and the others divide the rest. The errors of UNIFORM contain
    the results that it never samples. Clusters may be sampled as well.

    *Guarantee.* The greatest ``error * weight`` is minimal, to nine digits, if errors
    are continuous in memory. Errors are expectations: see ``sampling_errors``.

    *Cost.* About a thousand predictions of each error.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> window = AgeModel([1, 1])
    >>> short, long = (
    ...     SampledAggregate(window, Aggregate(period=period), "eq_cluster")
    ...     for period in (100, 400)
    ... )
    >>> plan = allocate_errors(1.4, [short, long])
    >>> [round(memory, 6) for memory in plan.memory], round(plan.maximum, 6)
    ([1.0, 0.4], 0.122474)
    """
    shares = shares_of(total, sums, weights)

    def needed(level: float) -> tuple[float, ...]:
        # A level is 0 for an infinite error, and 1 for no error.
        return tuple(
            _memory_for(each, share * level / (share * level + 1 - level))
            for each, share in zip(sums, shares, strict=True)
        )

    memory = best_within(total, needed, highest=1.0)
    errors = (each.error(kept) for each, kept in zip(sums, memory, strict=True))
    return ErrorAllocation(memory, tuple(errors))


def _memory_for(model: ErrorModel, level: float) -> float:
    """Fewest tuples with which the error reaches a level; else the demand."""

    def above(memory: float) -> float:
        return 1 / (1 + model.error(memory)) - level

    if above(0.0) >= 0:
        return 0.0
    if above(model.demand) <= 0:
        return model.demand
    return float(brentq(above, 0.0, model.demand, rtol=1e-12))
