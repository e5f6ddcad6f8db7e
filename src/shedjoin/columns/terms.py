"""Converts predicates to terms, by looking up their columns in the streams."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import floor

import pyarrow as pa

from shedjoin.columns.codes import kind_of_type
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.spec.keys import Fold, resolve_columns
from shedjoin.spec.multijoin import by_name
from shedjoin.spec.predicates import Band, Predicate, Where
from shedjoin.spec.terms import BandTerm, CheckTerm, CompareTerm, Kind, Term
from shedjoin.spec.window import parse_duration

_DAY_US = 86_400_000_000
_UNIT_US = {"s": 1_000_000, "ms": 1000, "us": 1}


class Streams:
    """Names of the streams of a join, and the types of their columns.

    Parameters
    ----------
    names : sequence of str
        Names of the streams.
    schemas : sequence of pyarrow.Schema
        Their columns.
    fold : callable, default str
        Function applied to column names before they are compared.
    """

    def __init__(
        self, names: Sequence[str], schemas: Sequence[pa.Schema], fold: Fold = str
    ) -> None:
        self._names = names
        self._schemas = schemas
        self._fold = fold

    def terms(self, predicates: Sequence[Predicate]) -> tuple[Term, ...]:
        """Convert predicates to terms, with streams by number and columns by name."""
        return tuple(
            self._band(each) if isinstance(each, Band) else self._where(each)
            for each in predicates
        )

    def _band(self, band: Band) -> BandTerm:
        each = band.columns
        named = (
            dict.fromkeys(self._names, each) if isinstance(each, str) else dict(each)
        )
        given = by_name("the column of a Band", named, self._names)
        columns = tuple(self._column(*each) for each in enumerate(given))
        types = [self._type(*each) for each in enumerate(columns)]
        kind = check_distances(band, types)
        return BandTerm(columns, distance_of(band, types[0]), kind)

    def _where(self, where: Where) -> CompareTerm | CheckTerm:
        found = [self._named(where, name) for name in where.columns]
        streams, columns = zip(*found, strict=True)
        if len(set(streams)) == 1:
            raise ParameterError(
                f"{where!r} is about one stream alone.",
                fix="filter that stream before it is joined.",
            )
        if not isinstance(where.test, str):
            return CheckTerm(streams, columns, where.test)
        types = [self._type(*each) for each in found]
        kind = _common(where, types)
        if kind is None:
            _check_comparable(where, types[0])
            return CheckTerm(streams, columns, where.test)
        return CompareTerm(streams, columns, where.test, kind)

    def _named(self, where: Where, name: str) -> tuple[int, str]:
        """Stream and column of ``"stream.column"``; either may contain dots."""
        found = [
            (number, name.removeprefix(f"{stream}."))
            for number, stream in enumerate(self._names)
            if name.startswith(f"{stream}.")
        ]
        if len(found) > 1:
            held = [each for each in found if each[1] in self._schemas[each[0]].names]
            found = held or found
        if len(found) != 1:
            what = "not a column" if not found else "the name of several columns"
            raise ParameterError(
                f"{where!r}: {name!r} is {what} of the streams "
                f"{', '.join(self._names)}.",
                fix=f'write the stream before the column: "{self._names[0]}.column".',
            )
        number, column = found[0]
        return number, self._column(number, column)

    def _column(self, stream: int, column: str) -> str:
        names = self._schemas[stream].names
        return resolve_columns(self._names[stream], [column], names, self._fold)[0]

    def _type(self, stream: int, column: str) -> pa.DataType:
        return self._schemas[stream].field(column).type


def check_distances(band: Band, types: Sequence[pa.DataType]) -> Kind:
    """Return the type that values are computed in; raise if it has no distances."""
    kind = _common(band, types)
    if kind is None or any(map(pa.types.is_boolean, types)):
        raise ColumnTypeError(
            f"{band!r} has no distances: a column is of type {types[0]}.",
            fix="use a column of numbers, dates or timestamps; cast decimals to "
            "double, unsigned integers of 64 bits to signed ones.",
        )
    return kind


def _check_comparable(where: Where, kind: pa.DataType) -> None:
    """Raise if values compare differently in Spark, as collated text does."""
    plain = (pa.types.is_string, pa.types.is_binary, pa.types.is_decimal)
    large = (pa.large_string(), pa.large_binary(), pa.uint64())
    if not any(is_kind(kind) for is_kind in plain) and kind not in large:
        what = "of a type that has no order here" if pa.types.is_null(kind) else kind
        raise ColumnTypeError(
            f"{where!r} compares columns {what}.",
            fix="compare numbers, dates, timestamps, text or bytes; of other types, "
            "and of text with a collation, compare columns made of them, or pass a "
            "function.",
        )


def _common(predicate: Predicate, types: Sequence[pa.DataType]) -> Kind | None:
    """Common type in which values are computed; None if they have no order code."""
    families = [_family(each) for each in types]
    for kind, family in zip(types, families, strict=True):
        if family != families[0]:
            raise ColumnTypeError(
                f"{predicate!r} is about columns of types {types[0]} and {kind}.",
                fix=f"cast one of them, e.g. to {types[0]}.",
            )
    return kind_of_type(types[0])


def _family(kind: pa.DataType) -> str:
    """Group of types that compare without a cast: all integers, or one other type."""
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return "integer"
    if pa.types.is_timestamp(kind):
        return f"timestamp {kind.unit} {kind.tz is not None}"
    if pa.types.is_nested(kind):
        return f"nested {kind}"
    return str(kind).removeprefix("large_")


def distance_of(band: Band, kind: pa.DataType) -> float:
    """Convert ``eps`` to the units of a column's type."""
    is_duration = isinstance(band.eps, str | timedelta)
    if is_duration != pa.types.is_temporal(kind):
        what = "a duration" if is_duration else "no duration"
        raise ParameterError(
            f"eps of {band!r} is {what}, but a column is of type {kind}.",
            fix="pass a number such as 0.5, or for dates and timestamps a duration: "
            '"1 minute".',
        )
    eps: float = band.eps if not is_duration else parse_duration(band.eps)  # type: ignore[assignment, arg-type]  # one or the other
    if pa.types.is_date(kind):
        return int(eps // (_DAY_US if kind == pa.date32() else 1000))
    if pa.types.is_timestamp(kind):
        return int(eps * 1000) if kind.unit == "ns" else int(eps // _UNIT_US[kind.unit])
    if pa.types.is_floating(kind):
        return _as_double(band)
    return floor(eps)


def _as_double(band: Band) -> float:
    try:
        return float(band.eps)  # type: ignore[arg-type]  # a number
    except OverflowError:
        raise ParameterError(
            f"eps of {band!r} is greater than all floating-point numbers.",
            fix="pass at most 1.7e308.",
        ) from None
