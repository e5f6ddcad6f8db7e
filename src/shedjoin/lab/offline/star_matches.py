"""Finds all matches of two archived streams through a relation, in three parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from shedjoin.columns.placing import between
from shedjoin.lab.offline.engine import in_tables
from shedjoin.lab.offline.star import StarArchive
from shedjoin.lab.offline.star_columns import Facts, Star, Stream
from shedjoin.lab.offline.star_shards import star_shards
from shedjoin.types import FloatArray, IntArray


class Total(NamedTuple):
    """Number of matches, and the sum of their importances."""

    size: int
    importance: float


class Parts(NamedTuple):
    """Matches by the row that came first: left, right, or both at one instant.

    Examples
    --------
    >>> parts = Parts(left=Total(5, 18.0), right=Total(3, 11.0), same=Total(3, 9.0))
    >>> parts.size, parts.importance
    (11, 38.0)
    """

    left: Total
    right: Total
    same: Total

    @property
    def size(self) -> int:
        """Number of all matches."""
        return sum(part.size for part in self)

    @property
    def importance(self) -> float:
        """Sum of the importances of all matches."""
        return sum(part.importance for part in self)


class Matches(NamedTuple):
    """Pairs of rows, the instant of each row, and importances.

    An instant is an index into ``times``, which has all instants of the archive.
    """

    times: IntArray
    rows: tuple[IntArray, IntArray]
    instants: tuple[IntArray, IntArray]
    importance: FloatArray

    def first(self, side: int) -> IntArray:
        """Indices of the matches in which the row of one stream came first."""
        return np.flatnonzero(self.instants[side] < self.instants[1 - side])

    @property
    def same(self) -> IntArray:
        """Indices of the matches of rows of the same instant."""
        return np.flatnonzero(self.instants[0] == self.instants[1])

    def total(self, some: IntArray) -> Total:
        """Number and importance of some of the matches."""
        return Total(some.size, float(self.importance[some].sum()))


def star_join(archive: StarArchive) -> Parts:
    """Number and importance of the matches if no row is shed [1]_.

    Parameters
    ----------
    archive : StarArchive
        The streams and the relation.

    Returns
    -------
    Parts
        Number and importance of the matches, by the row that came first.

    Notes
    -----
    *Source.* Formulas (3) and (4) of [1]_. In section 4 of [1]_, this is EXACT.

    *Symbols.* ``left``, ``right`` and ``same`` are the parts of the R, S and SA graph.

    *Guarantee.* Exact.

    *Cost.* O(n log n + p) for p matches, all of which are held in memory. n is the
    number of rows, plus the number of pairs of a row and a relation row that is valid
    at its time.

    References
    ----------
    .. [1] K. Towne, Q. Zhu, C. Zuzarte, W.-C. Hou, "Window Query Processing for Joining
       Data Streams with Relations", CASCON 2007.

    Examples
    --------
    >>> import pyarrow as pa
    >>> left = pa.table({"time": [0, 1, 4], "key": ["x", "y", "x"]})
    >>> right = pa.table({"time": [1, 2, 5], "key": ["x", "x", "y"]})
    >>> star_join(StarArchive(left, right, None, "key", within=2))
    Parts(left=Total(size=2, importance=2.0), right=Total(size=1, importance=1.0), ...
    """
    found = [star_matches(shard.star) for shard in star_shards(in_tables(archive))]
    left, right = (
        add_up(each.total(each.first(side)) for each in found) for side in (0, 1)
    )
    return Parts(left, right, add_up(each.total(each.same) for each in found))


def add_up(totals: Iterable[Total]) -> Total:
    """Add up numbers and importances of matches."""
    size, importance = zip(*totals, strict=True)
    return Total(sum(size), sum(importance))


def star_matches(star: Star) -> Matches:
    """All matches of an archive, each once."""
    left, right, facts = star.left, star.right, star.facts
    times, instants = np.unique(
        np.concatenate((left.time, right.time)), return_inverse=True
    )
    row, fact = active_facts(left, facts.left, facts)
    time = left.time[row]
    # Among right rows sorted by key and time, the matches of a left row are adjacent.
    low = np.searchsorted(times, np.maximum(time - star.before, facts.begin[fact]))
    high = np.searchsorted(
        times, np.minimum(time + star.after, facts.end[fact] - 1), side="right"
    )
    right_instant = instants[left.time.size :]
    step = times.size + 1
    order = np.argsort(right.key * step + right_instant, kind="stable")
    places = (right.key * step + right_instant)[order]
    low = np.searchsorted(places, facts.right[fact] * step + low)
    high = np.searchsorted(places, facts.right[fact] * step + high)
    found, place = between(low, np.maximum(high, low) - 1)
    rows = row[found], order[place]
    return Matches(
        times,
        rows,
        (instants[rows[0]], right_instant[rows[1]]),
        np.minimum(left.importance[rows[0]], right.importance[rows[1]]),
    )


def active_facts(
    stream: Stream, key: IntArray, facts: Facts
) -> tuple[IntArray, IntArray]:
    """Pairs of a row of a stream and a relation row that was valid at its time.

    ``key`` are the keys of the relation for this stream.
    """
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], stream.key)
    behind = np.searchsorted(key[order], stream.key, side="right")
    row, place = between(first, behind - 1)
    fact = order[place]
    time = stream.time[row]
    active = (facts.begin[fact] <= time) & (time < facts.end[fact])
    return row[active], fact[active]
