"""Checks an archive of two streams and a relation, and converts it to numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.lab.offline.star import Pair, StarArchive
from shedjoin.spec.keys import resolve_columns
from shedjoin.spec.window import Within, parse_duration
from shedjoin.types import FloatArray, IntArray

NEVER = np.iinfo(np.int64).max
"""End of a relation row that never ends. Its negative is the begin of a row that was
always valid."""


class Stream(NamedTuple):
    """Time, key and importance of each row; a null key is -1."""

    time: IntArray
    key: IntArray
    importance: FloatArray


class Facts(NamedTuple):
    """Relation rows: keys on both sides, and the start and end of their validity."""

    left: IntArray
    right: IntArray
    begin: IntArray
    end: IntArray


class Star(NamedTuple):
    """An archive as columns.

    A right row matches a left row if it is at most ``before`` earlier and at most
    ``after`` later. ``clock`` is the type of the times.
    """

    left: Stream
    right: Stream
    facts: Facts
    before: int
    after: int
    clock: pa.DataType


def star_columns(archive: StarArchive) -> Star:
    """Check an archive, and convert it to columns."""
    tables = {"left": archive.left, "right": archive.right}
    times = one_each("time", archive.time)
    clocks = [
        _clock(name, table, column)
        for (name, table), column in zip(tables.items(), times, strict=True)
    ]
    if clocks[0] != clocks[1]:
        raise ColumnTypeError(
            f"Times of type {clocks[0]} and {clocks[1]} cannot be compared.",
            fix="cast one of the columns to the type of the other.",
        )
    before, after = _reach(archive.within, clocks[0])
    keys, facts = _facts(archive, clocks[0])
    left, right = (
        Stream(_times(table[column], clocks[0]), key, _importance(archive, side))
        for side, (table, column, key) in enumerate(
            zip(tables.values(), times, keys, strict=True)
        )
    )
    return Star(left, right, facts, before, after, clocks[0])


def one_each(name: str, given: object) -> Pair:
    """One name for each stream; a single name is used for both."""
    both = (given, given) if isinstance(given, str) else given
    if isinstance(both, tuple | list) and [type(each) for each in both] == [str, str]:
        return both[0], both[1]
    raise ParameterError(
        f"{name}={given!r} does not name a column of each side.",
        fix=f'write {name}="..." or {name}=("...", "...").',
    )


def named_column(name: str, table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column of a table of the archive, by its name."""
    resolve_columns(name, [column], table.column_names)
    return table[column]


def _clock(name: str, table: pa.Table, column: str) -> pa.DataType:
    """Type of the times of a stream: whole numbers, or timestamps in microseconds."""
    times = named_column(name, table, column)
    if times.null_count:
        raise ParameterError(
            f"{times.null_count} rows of {name} have no {column!r}.",
            fix=f"leave them out: {name}.drop_null().",
        )
    if pa.types.is_integer(times.type):
        return pa.int64()
    if pa.types.is_timestamp(times.type):
        return pa.timestamp("us", times.type.tz)
    raise ColumnTypeError(
        f"{column!r} of {name} is of type {times.type}, which is no time.",
        fix="cast it to a timestamp, or to int64.",
    )


def _times(column: pa.ChunkedArray, clock: pa.DataType) -> IntArray:
    told: IntArray = column.cast(clock, safe=False).cast(pa.int64()).to_numpy()
    return told


def _reach(within: object, clock: pa.DataType) -> tuple[int, int]:
    """Length of the window before and after a left row, in the unit of the times."""
    counted = pa.types.is_integer(clock)
    if isinstance(within, Within) and not counted:
        return within.before_us, within.after_us
    if isinstance(within, int) != counted or isinstance(within, bool | Within):
        raise ParameterError(
            f"within={within!r} does not fit times of type {clock}.",
            fix='write within=3 for whole numbers, within="3 seconds" for timestamps.',
        )
    reach = within if isinstance(within, int) else parse_duration(within)  # type: ignore[arg-type]
    if reach < 0:
        raise ParameterError(
            f"within={within!r} is negative.", fix="pass 0 for rows of one instant."
        )
    return reach, reach


def _facts(
    archive: StarArchive, clock: pa.DataType
) -> tuple[tuple[IntArray, IntArray], Facts]:
    """Keys of both streams, and the relation; equal keys are equal numbers."""
    relation = archive.relation
    if relation is None:
        names = one_each("on", archive.on)
        keys = coded(
            named_column("left", archive.left, names[0]),
            named_column("right", archive.right, names[1]),
        )
        same = np.unique(np.concatenate(keys))
        same = same[same >= 0]
        always = np.full(same.size, NEVER)
        return keys, Facts(same, same, -always, always)
    (left, its_left), (right, its_right) = _sides(archive.on)
    left_key, fact_left = coded(
        named_column("left", archive.left, left),
        named_column("relation", relation, its_left),
    )
    right_key, fact_right = coded(
        named_column("right", archive.right, right),
        named_column("relation", relation, its_right),
    )
    begin, end = archive.valid or (None, None)
    facts = Facts(
        fact_left,
        fact_right,
        _bound(relation, begin, clock, -NEVER),
        _bound(relation, end, clock, NEVER),
    )
    known = (facts.left >= 0) & (facts.right >= 0) & (facts.begin < facts.end)
    facts = Facts(*(column[known] for column in facts))
    _check_once(facts)
    return (left_key, right_key), facts


def _sides(on: object) -> tuple[Pair, Pair]:
    if isinstance(on, tuple | list) and len(on) == 2:  # noqa: PLR2004
        left, right = on
        if not isinstance(left, str) and not isinstance(right, str):
            return one_each("on", left), one_each("on", right)
    raise ParameterError(
        f"on={on!r} does not name the keys of both streams and of the relation.",
        fix='write on=(("left key", "its column"), ("right key", "its column")).',
    )


def coded(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[IntArray, IntArray]:
    """Numbers that are equal where the values are equal; -1 for nulls."""
    if one.type != other.type:
        raise ColumnTypeError(
            f"Keys of type {one.type} cannot equal keys of type {other.type}.",
            fix="cast one of the columns to the type of the other.",
        )
    both = pa.chunked_array([*one.chunks, *other.chunks], one.type)
    coded = both.combine_chunks().dictionary_encode()
    codes: IntArray = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return codes[: len(one)], codes[len(one) :]


def _bound(
    relation: pa.Table, column: str | None, clock: pa.DataType, unbounded: int
) -> IntArray:
    if column is None:
        return np.full(relation.num_rows, unbounded)
    bound = named_column("relation", relation, column)
    kind = bound.type
    fits = pa.types.is_null(kind) or (
        pa.types.is_integer(kind)
        if pa.types.is_integer(clock)
        else pa.types.is_timestamp(kind) and kind.tz == clock.tz
    )
    if not fits:
        raise ColumnTypeError(
            f"{column!r} of relation is of type {kind}, times are {clock}.",
            fix="cast it to the type of the times.",
        )
    times = bound.cast(clock, safe=False).cast(pa.int64())
    told: IntArray = times.fill_null(unbounded).to_numpy()
    return told


def _check_once(facts: Facts) -> None:
    """Raise if relation rows with the same keys are valid at the same time."""
    order = np.lexsort((facts.begin, facts.right, facts.left))
    left, right, begin, end = (column[order] for column in facts)
    same = (np.diff(left) == 0) & (np.diff(right) == 0)
    if (same & (begin[1:] < end[:-1])).any():
        raise ParameterError(
            "Two rows of the relation have the same keys and are active together.",
            fix="make one row of them, or end the first where the second begins.",
        )


def _importance(archive: StarArchive, side: int) -> FloatArray:
    name, table = (("left", archive.left), ("right", archive.right))[side]
    if archive.importance is None:
        return np.ones(table.num_rows)
    column = one_each("importance", archive.importance)[side]
    given: FloatArray = (
        named_column(name, table, column)
        .cast(pa.float64())
        .fill_null(np.nan)
        .to_numpy()
    )
    if not ((given >= 0) & (given < np.inf)).all():
        raise ParameterError(
            f"{column!r} of {name} is not a finite importance of 0 or more everywhere.",
            fix="leave rows out that have none, or write 0.",
        )
    return given
