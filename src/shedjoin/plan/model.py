"""Interface of the models that planners use, and checks of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from shedjoin.errors import ParameterError

FloatArray: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = Sequence[float] | FloatArray

FITS = 1 + 1e-12
"""Tolerance: a use that exceeds the budget by less than this factor still fits."""


class Knots(NamedTuple):
    """Corners of a piecewise linear curve: memory in tuples, results per unit time."""

    memory: FloatArray
    results: FloatArray


class Model(Protocol):
    """What planners need to know about a window or a join."""

    @property
    def demand(self) -> float:
        """Number of tuples in memory that give the exact result."""
        ...

    def results(self, memory: float) -> float:
        """Results per unit time with that many tuples; never decreases with memory."""
        ...


class ConcaveModel:
    """A model with diminishing returns, linear between knots that start at (0, 0)."""

    __slots__ = ()

    knots: Knots

    @property
    def demand(self) -> float:
        """Number of tuples in memory that give the exact result."""
        return float(self.knots.memory[-1])

    def results(self, memory: float) -> float:
        """Results per unit time with that many tuples."""
        return float(np.interp(at_least_zero("memory", memory), *self.knots))


def predicted_recall(model: Model, memory: float) -> float:
    """Share of the exact result that is found; 1 if the exact result is empty.

    Examples
    --------
    >>> from shedjoin.lab.plan import AgeModel
    >>> predicted_recall(AgeModel([1, 1, 2, 1]), 3)
    0.8
    """
    exact = model.results(model.demand)
    return min(1.0, model.results(memory) / exact) if exact > 0 else 1.0


def numbers(name: str, values: Numbers) -> FloatArray:
    """Check a column of finite numbers that are not negative."""
    column = np.array(values, dtype=np.float64)
    usable = np.isfinite(column) & (column >= 0)
    if column.ndim != 1 or not column.size or not usable.all():
        raise ParameterError(
            f"{name} is not a list of finite numbers from 0 up.",
            fix=f"pass one number for each value or age, e.g. {name}=[0.5, 0.3, 0.2].",
        )
    return column


def positive(name: str, value: float) -> float:
    """Check a finite number above zero."""
    if not 0 < value < np.inf:
        raise ParameterError(
            f"{name}={value!r} is not a finite number above 0.",
            fix=f"pass a positive number, e.g. {name}=1.0.",
        )
    return value


def at_least_zero(name: str, value: float) -> float:
    """Check a finite number that is not negative."""
    if not 0 <= value < np.inf:
        raise ParameterError(
            f"{name}={value!r} is not a finite number of tuples.",
            fix=f"pass 0 or more tuples, e.g. {name}=1000.",
        )
    return value


def as_share(name: str, value: float) -> float:
    """Check a number from 0 to 1."""
    if not 0 <= value <= 1:
        raise ParameterError(
            f"{name}={value!r} is not a share.", fix="pass a number from 0 to 1."
        )
    return value


def not_negative(name: str, value: float) -> float:
    """Check a finite number of at least 0 that does not count tuples."""
    if not 0 <= value < np.inf:
        raise ParameterError(
            f"{name}={value!r} is not a finite number from 0 up.",
            fix=f"pass 0 or more, e.g. {name}=1.0.",
        )
    return value
