"""Predicates of a join, with streams by number and columns by their exact names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from shedjoin.spec.predicates import Test

Kind: TypeAlias = Literal["integer", "float32", "float64"]
"""Type by which values are compared. Dates and timestamps are compared as integers."""


@dataclass(frozen=True, slots=True)
class BandTerm:
    """All rows lie within ``eps`` of each other, in one column of every stream.

    ``eps`` is in the unit of the column.
    """

    columns: tuple[str, ...]
    eps: float
    kind: Kind

    @property
    def streams(self) -> tuple[int, ...]:
        """Numbers of the streams that are compared, one for each column."""
        return tuple(range(len(self.columns)))

    @property
    def facts(self) -> tuple[object, ...]:
        """What the stored state depends on."""
        return ("band", self.columns, self.eps, self.kind)


@dataclass(frozen=True, slots=True)
class CompareTerm:
    """The comparison of a column of one stream with a column of another stream."""

    streams: tuple[int, int]
    columns: tuple[str, str]
    operator: str
    kind: Kind

    @property
    def facts(self) -> tuple[object, ...]:
        """What the stored state depends on."""
        return ("compare", self.streams, self.columns, self.operator, self.kind)


@dataclass(frozen=True, slots=True)
class CheckTerm:
    """A test of columns of several streams, made when all other terms hold.

    The test is a function of arrays, or a comparison of values that are not numbers.
    """

    streams: tuple[int, ...]
    columns: tuple[str, ...]
    test: str | Test

    @property
    def facts(self) -> tuple[object, ...]:
        """What the stored state depends on; the code of a function is no part of it."""
        known = (self.test,) if isinstance(self.test, str) else ()
        return ("test", self.streams, self.columns, *known)


Term: TypeAlias = BandTerm | CompareTerm | CheckTerm


def compared(
    terms: tuple[Term, ...], stream: int
) -> Iterator[tuple[int, BandTerm | CompareTerm, str]]:
    """Bands and comparisons of a stream: number, term, and the stream's column in it.

    >>> [each[::2] for each in compared((BandTerm(("x", "y"), 1.0, "float64"),), 1)]
    [(0, 'y')]
    """
    for number, term in enumerate(terms):
        if not isinstance(term, CheckTerm) and stream in term.streams:
            yield number, term, term.columns[term.streams.index(stream)]


def columns_of(terms: tuple[Term, ...], stream: int) -> tuple[str, ...]:
    """Columns of a stream that predicates name. If one is null, the row has no match.

    >>> columns_of((BandTerm(("x", "y"), 1.0, "float64"),), 1)
    ('y',)
    """
    named = [
        column
        for term in terms
        for own, column in zip(term.streams, term.columns, strict=True)
        if own == stream
    ]
    return tuple(dict.fromkeys(named))
