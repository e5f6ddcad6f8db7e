"""Cells: ranges of values by which a join by distance is spread over shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real

from shedjoin.errors import ParameterError

_SHOWN = 60


@dataclass(frozen=True, slots=True, init=False)
class Cells:
    """Ranges of values that spread a join by :class:`Band` over shards.

    A join by distance without a key is spread over shards by value. Each row of the
    first stream goes to the cell of its value. A row of another stream goes to every
    cell that may contain a match, so each result is found once. If a cell has several
    ``pieces``, each piece gets a part of the rows of the first stream and all rows of
    the other streams. :func:`shedjoin.cells_of` finds cells from a sample of the
    values.

    Parameters
    ----------
    edges : sequence of numbers
        Values at which a cell ends and the next one begins, in ascending order.
        Timestamps are microseconds since 1970, dates are days.
    pieces : sequence of int, optional
        Number of pieces of each cell, one more than there are edges. By default no cell
        is split.

    Examples
    --------
    >>> Cells([10.5, 20.0], pieces=[1, 4, 1])
    Cells([10.5, 20], pieces=[1, 4, 1])
    >>> Cells([20.0, 10.0])
    Traceback (most recent call last):
    shedjoin.errors.ParameterError: Cells([20, 10], pieces=[1, 1, 1]): the ...
    Fix: pass finite numbers in ascending order, each once.
    """

    edges: tuple[float, ...]
    pieces: tuple[int, ...]

    def __init__(
        self, edges: Sequence[float], pieces: Sequence[int] | None = None
    ) -> None:
        object.__setattr__(self, "edges", tuple(map(_number, edges)))
        split = (1,) * (len(self.edges) + 1) if pieces is None else pieces
        object.__setattr__(self, "pieces", tuple(map(_number, split)))
        ends = (float("-inf"), *self.edges, float("inf"))
        if not all(a < b for a, b in pairwise(ends)):
            raise ParameterError(
                f"{self!r}: the edges do not ascend.",
                fix="pass finite numbers in ascending order, each once.",
            )
        counts = all(type(piece) is int and piece > 0 for piece in self.pieces)
        if len(self.pieces) != len(self.edges) + 1 or not counts:
            raise ParameterError(
                f"{self!r}: {len(self.edges)} edges make {len(self.edges) + 1} cells.",
                fix="pass a count of at least 1 for each of them in pieces.",
            )

    def __repr__(self) -> str:
        edges, pieces = (_short(list(each)) for each in (self.edges, self.pieces))
        return f"Cells({edges}, pieces={pieces})"


def _number(value: object) -> float:
    """Convert to a plain number. 1 and 1.0 become equal, since a digest is taken."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(
            f"cells have {value!r}, which is no number.",
            fix="pass numbers; of timestamps microseconds since 1970, of dates days.",
        )
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() else number


def _short(values: list[float] | list[int]) -> str:
    text = repr(values)
    return text if len(text) <= _SHOWN else f"[{values[0]!r}, ... {len(values)} values]"
