"""Predicts the results of one window as a function of its memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from shedjoin.errors import ParameterError
from shedjoin.plan.model import (
    ConcaveModel,
    FloatArray,
    Knots,
    Numbers,
    numbers,
    positive,
)

_SAME = 1e-12
"""Relative difference below which two quotients count as equal."""


@dataclass(frozen=True, slots=True)
class FrequencyModel(ConcaveModel):
    """A window whose matches depend on the value, shed by PROB [1]_.

    Parameters
    ----------
    own, opposite : sequence of float
        Share of the arrivals on this and on the opposite stream, for each value. Values
        that are left out have no matches.
    window : float
        Length of the window in time units.
    rate, opposite_rate : float, default 1.0
        Arrivals per time unit on this and on the opposite stream.

    Notes
    -----
    *Source.* Section 3.3 of [1]_.

    *Symbols.* ``own`` is f1, ``opposite`` is f2, ``rate`` is r1, ``opposite_rate`` is
    r2, ``window`` is W1, ``demand`` is r1 W1, and ``results`` is R1.

    *Departures.* Of the first value that does not fit completely, the part that fits
    counts. The paper leaves this value out. So it predicts no results at all if the
    rows of the first value alone exceed the memory.

    *Guarantee.* An expectation for independent values with fixed frequencies.

    *Cost.* O(n log n) once for n values, and O(log n) for each prediction.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> model = FrequencyModel([0.8, 0.2], [0.3, 0.7], window=10)
    >>> round(model.results(2), 9), round(model.results(6), 9)
    (1.4, 2.6)
    """

    own: Numbers
    opposite: Numbers
    window: float
    rate: float = 1.0
    opposite_rate: float = 1.0
    knots: Knots = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own, opposite = _shares("own", self.own), _shares("opposite", self.opposite)
        if own.size != opposite.size:
            raise ParameterError(
                f"own has {own.size} values and opposite has {opposite.size}.",
                fix="pass one share of each stream for each value, 0 where it is rare.",
            )
        for name in ("window", "rate", "opposite_rate"):
            positive(name, getattr(self, name))
        kept_first = np.argsort(-opposite, kind="stable")
        stored = self.rate * self.window * own[kept_first]
        hits = self.opposite_rate * opposite[kept_first]
        knots = Knots(_from_zero(stored), _from_zero(stored * hits))
        object.__setattr__(self, "own", tuple(own.tolist()))
        object.__setattr__(self, "opposite", tuple(opposite.tolist()))
        object.__setattr__(self, "knots", knots)


@dataclass(frozen=True, slots=True)
class AgeModel(ConcaveModel):
    """A window whose matches depend on the age of the tuple, shed by AGE [1]_.

    Parameters
    ----------
    curve : sequence of float
        Results of a tuple in each time unit of its life. The window is as long as the
        curve.
    rate : float, default 1.0
        Arrivals per time unit.

    Notes
    -----
    *Source.* Equations 2 and 3 of [1]_.

    *Symbols.* ``curve`` is p1, its running sum is C1, ``rate`` is r1, and ``results``
    is R1. The paper defines C1 for whole ages only. Between these, it is linear here.

    *Departures.* The knots are the corners of the upper concave hull of C1. If the
    curve has no minima, this is equation 3. The equation does not cover minima. If
    there are minima, the hull is an upper bound for every way to shed. A policy that
    sheds the row with the lowest of ``priorities`` is close to this bound.

    *Guarantee.* Optimal if arrivals are constant, ``memory / rate`` is a whole number,
    and the curve has no minima.

    *Cost.* O(W) once for W time units, and O(log W) for each prediction.

    References
    ----------
    .. [1] U. Srivastava, J. Widom, "Memory-Limited Execution of Windowed Stream
       Joins", VLDB 2004.

    Examples
    --------
    >>> model = AgeModel([1, 1, 2, 1])
    >>> [round(model.results(memory), 3) for memory in (1, 2, 3, 4)]
    [1.333, 2.667, 4.0, 5.0]
    """

    curve: Numbers
    rate: float = 1.0
    knots: Knots = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        curve = numbers("curve", self.curve)
        positive("rate", self.rate)
        yields = _from_zero(curve)
        corners = _hull(yields.tolist())
        knots = Knots(
            self.rate * corners.astype(np.float64), self.rate * yields[corners]
        )
        object.__setattr__(self, "curve", tuple(curve.tolist()))
        object.__setattr__(self, "knots", knots)


def k_opt(curve: Numbers) -> int:
    """Age up to which a tuple has the most results per time unit.

    If several ages have equally many, the least age is returned.

    Examples
    --------
    >>> k_opt([1, 1, 2, 1]), k_opt([2, 2, 1])
    (3, 1)
    """
    yields = np.cumsum(numbers("curve", curve))
    pace = yields / np.arange(1, yields.size + 1)
    return int(np.argmax(pace >= pace.max() * (1 - _SAME))) + 1


def priorities(curve: Numbers) -> FloatArray:
    """Priority of a tuple of age 0, 1, ...

    It is the highest mean of results per time unit, from this age to any later age.

    Examples
    --------
    >>> priorities([3, 0, 2]).tolist()
    [3.0, 1.0, 2.0]
    """
    yields = _from_zero(numbers("curve", curve))
    ages = np.arange(yields.size)
    paces = [
        ((yields[age + 1 :] - yields[age]) / (ages[age + 1 :] - age)).max()
        for age in ages[:-1]
    ]
    return np.array(paces, dtype=np.float64)


def has_minima(curve: Numbers) -> bool:
    """Whether the curve falls and later rises again.

    Examples
    --------
    >>> has_minima([1, 1, 2, 1]), has_minima([3, 0, 2])
    (False, True)
    """
    steps = np.diff(numbers("curve", curve))
    falls, rises = np.flatnonzero(steps < 0), np.flatnonzero(steps > 0)
    return bool(falls.size and rises.size and falls[0] < rises[-1])


def _shares(name: str, values: Numbers) -> FloatArray:
    column = numbers(name, values)
    if column.sum() > 1 + 1e-9:
        raise ParameterError(
            f"{name} sums to {column.sum():g}; shares of one stream sum to at most 1.",
            fix="divide the counts of the values by the count of all arrivals.",
        )
    return column


def _from_zero(steps: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(steps)))


def _hull(heights: list[float]) -> npt.NDArray[np.intp]:
    """Positions of the corners of the upper concave hull of heights at 0, 1, 2, ..."""
    corners = [0]
    for place in range(1, len(heights)):
        while len(corners) > 1:
            first, middle = corners[-2], corners[-1]
            rise = (heights[place] - heights[first]) * (middle - first)
            if (heights[middle] - heights[first]) * (place - first) > rise:
                break
            corners.pop()
        corners.append(place)
    return np.array(corners, dtype=np.intp)
