"""Matches of archived streams as a graph, and the work for a subset of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from shedjoin.errors import ParameterError
from shedjoin.lab.plan import Costs
from shedjoin.types import BoolArray, IntArray


class Places(NamedTuple):
    """Rows of each match, numbered from 0 without gaps, and the number of rows."""

    left: IntArray
    right: IntArray
    left_rows: int
    right_rows: int


class Subset(NamedTuple):
    """Some matches of a graph, with their number and their work.

    ``kept`` says for each match of the graph whether it is in the subset.

    Examples
    --------
    >>> Subset(kept=np.array([True, False]), results=1, work=2.5).results
    1
    """

    kept: BoolArray
    results: int
    work: float


@dataclass(frozen=True, slots=True, eq=False)
class MatchGraph:
    """All matches of two archived streams: rows are nodes, matches are edges [1]_.

    Parameters
    ----------
    left, right : sequence of int
        Row of each stream, for each match. Rows without matches do not appear.

    Notes
    -----
    *Source.* Definition 5 of [1]_.

    *Symbols.* The graph is G = (U, V, E). ``left`` and ``right`` are the ends of E in U
    and V. ``work`` is F(G).

    *Departures.* The text of section 3.1 exchanges the two sides. Rows without matches
    would only add work, and are left out.

    References
    ----------
    .. [1] A. Ayad, J. Naughton, S. Wright, U. Srivastava, "Approximating Streaming
       Window Joins Under CPU Limitations", University of Wisconsin-Madison,
       Technical Report 1542, 2005.

    Examples
    --------
    >>> graph = MatchGraph([0, 0, 1, 2], [0, 1, 1, 2])
    >>> graph.components().tolist()
    [0, 0, 0, 1]
    >>> graph.work(Costs(update=1, match=0.5))
    8.0
    """

    left: npt.ArrayLike
    right: npt.ArrayLike

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            rows = _rows(name, getattr(self, name))
            rows.flags.writeable = False
            object.__setattr__(self, name, rows)
        left, right = self.ends
        if left.size != right.size:
            raise ParameterError(
                f"left has {left.size} rows and right has {right.size}.",
                fix="pass one row of each stream for each match.",
            )
        order = np.lexsort((right, left))
        if ((np.diff(left[order]) == 0) & (np.diff(right[order]) == 0)).any():
            raise ParameterError(
                "Two matches have the same rows.", fix="pass each match once."
            )

    @property
    def ends(self) -> tuple[IntArray, IntArray]:
        """Rows of each match as arrays: left, right."""
        return self.left, self.right  # type: ignore[return-value]

    def places(self) -> Places:
        """Rows of each match, numbered from 0 without gaps, in ascending order."""
        (of_left, left), (of_right, right) = (
            np.unique(rows, return_inverse=True) for rows in self.ends
        )
        return Places(left, right, of_left.size, of_right.size)

    def components(self) -> IntArray:
        """Number of the connected component of each match.

        Components have no rows in common. So the work for one component does not depend
        on what is kept of another. If rows match by equal keys, each component has a
        single key.
        """
        left, right, left_rows, right_rows = self.places()
        if not left.size:
            return left
        rows = left_rows + right_rows
        edges = coo_array(
            (np.ones(left.size, dtype=np.int8), (left, right + left_rows)),
            shape=(rows, rows),
        )
        _, of_row = connected_components(edges, directed=False)
        numbers: IntArray = of_row[left].astype(np.int64)
        return numbers

    def part(self, kept: BoolArray | IntArray) -> MatchGraph:
        """Graph of some of the matches, with the rows that they need."""
        left, right = self.ends
        return MatchGraph(left[kept], right[kept])

    def work(self, costs: Costs) -> float:
        """Work to store every row once, and to produce every match."""
        return _work(*self.ends, costs)

    def subset(self, kept: BoolArray, costs: Costs) -> Subset:
        """Subset of the matches that ``kept`` marks, with its work."""
        left, right = self.ends
        return Subset(kept, int(kept.sum()), _work(left[kept], right[kept], costs))


def _work(left: IntArray, right: IntArray, costs: Costs) -> float:
    rows = np.unique(left).size + np.unique(right).size
    return float(rows * costs.update + left.size * costs.match)


def _rows(name: str, rows: npt.ArrayLike) -> IntArray:
    column = np.array(rows)
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
        raise ParameterError(
            f"{name} is not a list of row numbers.",
            fix=f"pass one whole number for each match, e.g. {name}=[0, 0, 1].",
        )
    return column.astype(np.int64)
