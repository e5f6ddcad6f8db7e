"""Predicates of a join besides equal keys, as a user writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from shedjoin.errors import ParameterError
from shedjoin.spec.window import Duration, parse_duration
from shedjoin.types import BoolArray

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
"""Operators with which a :class:`Where` can compare two columns."""

Test: TypeAlias = Callable[..., BoolArray]
"""A vectorised function: arrays of the same length in, one truth value for each row."""


@dataclass(frozen=True, slots=True, init=False)
class Band:
    """Values of all rows lie within ``eps`` of each other: ``abs(a.x - b.x) <= eps``.

    Both ends are included. As in Spark SQL, a null, a NaN or an infinity is near no
    value. Integers are subtracted without overflow.

    Parameters
    ----------
    column : str or dict
        A column of numbers, dates or timestamps that all streams have, or a dict with
        the column of each stream. In a join of two, the streams are called ``"left"``
        and ``"right"``.
    eps : number, str or timedelta
        Greatest distance between two values; a duration for timestamps and dates.

    Examples
    --------
    >>> Band("price", 0.5)
    Band('price', 0.5)
    >>> Band({"orders": "placed_at", "trucks": "left_at"}, "10 minutes").columns
    (('orders', 'placed_at'), ('trucks', 'left_at'))
    >>> Band("price", -1)
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Band('price', -1) is negative: nothing is so near.
    Fix: pass eps=0 for equal values, or how far apart they may be.
    """

    columns: str | tuple[tuple[str, str], ...]
    eps: float | Duration

    def __init__(self, column: str | Mapping[str, str], eps: float | Duration) -> None:
        columns = tuple(column.items()) if isinstance(column, Mapping) else column
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "eps", eps)
        names = [columns]
        if isinstance(columns, tuple):
            names = [name for pair in columns for name in pair]
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ParameterError(
                f"{self!r} names no column.",
                fix='pass Band("price", 0.5), or the column of each stream: '
                'Band({"left": "price", "right": "cost"}, 0.5).',
            )
        if self._length() < 0:
            raise ParameterError(
                f"{self!r} is negative: nothing is so near.",
                fix="pass eps=0 for equal values, or how far apart they may be.",
            )

    def __repr__(self) -> str:
        columns = self.columns
        column = dict(columns) if isinstance(columns, tuple) else columns
        return f"Band({column!r}, {self.eps!r})"

    def _length(self) -> float:
        """Give ``eps`` as a number, durations in microseconds."""
        if isinstance(self.eps, str | timedelta):
            return parse_duration(self.eps)
        eps: Any = self.eps
        known = isinstance(eps, Real) and not isinstance(eps, bool | np.bool_)
        if not known or not abs(eps) < np.inf:
            raise ParameterError(
                f"{self!r} has no finite number for eps.",
                fix='pass Band("price", 0.5), or Band("seen_at", "1 minute") of times.',
            )
        return self.eps


@dataclass(frozen=True, slots=True, init=False)
class Where:
    """A condition on columns of several streams: a comparison, or a function.

    ``Where("a.x", "<", "b.y")`` compares as Spark SQL does: a NaN equals a NaN and is
    greater than all numbers, minus zero equals zero. ``Where(function, "a.x", "b.y")``
    takes any columns of two or more streams. The function gets their values as numpy
    arrays of the same length, and returns one truth value for each element. The result
    must depend on the values alone, since a repeated micro-batch calls it again.

    A row with a null in one of the columns matches nothing.

    Parameters
    ----------
    *condition
        A column, one of ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, and a column of
        another stream. Or a function and its columns. Columns are written
        ``"stream.column"``. In a join of two, the streams are ``left`` and ``right``.

    Examples
    --------
    >>> Where("bids.price", ">=", "asks.price")
    Where('bids.price', '>=', 'asks.price')
    >>> import numpy as np
    >>> near = Where(lambda a, b: np.hypot(a, b) < 1, "left.x", "right.y")
    >>> near.columns
    ('left.x', 'right.y')
    >>> Where("bids.price", "~", "asks.price")
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Where('bids.price', '~', 'asks.price') is no ...
    Fix: write Where("a.x", "<", "b.y") with one of = != < <= > >=, or ...
    """

    test: str | Test
    columns: tuple[str, ...]

    def __init__(self, *condition: str | Test) -> None:
        test: Any = None
        columns: Sequence[Any] = ()
        if condition and callable(condition[0]):
            test, *columns = condition
        elif len(condition) == 3 and condition[1] in OPERATORS:  # noqa: PLR2004
            test, columns = condition[1], condition[::2]
        object.__setattr__(self, "test", test)
        object.__setattr__(self, "columns", tuple(columns))
        if not columns or not all(isinstance(name, str) for name in columns):
            raise ParameterError(
                f"Where({', '.join(map(repr, condition))}) is no condition.",
                fix=f'write Where("a.x", "<", "b.y") with one of '
                f'{" ".join(OPERATORS)}, or Where(function, "a.x", "b.y").',
            )

    def __repr__(self) -> str:
        given: tuple[object, ...] = (self.test, *self.columns)
        if isinstance(self.test, str):
            given = (self.columns[0], self.test, self.columns[1])
        return f"Where({', '.join(map(repr, given))})"


Predicate: TypeAlias = Band | Where
