"""From two DataFrames and the user's arguments to a checked spec."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.spark.event_time import DELAY
from shedjoin.spec.keys import On, key_pairs, output_columns, require_columns
from shedjoin.spec.streams import JoinSpec, SideSpec
from shedjoin.spec.window import Within

_FITS_64_BITS = (
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    DateType,
    TimestampType,
    TimestampNTZType,
)
_NAMES = ("left", "right")


class Arguments(NamedTuple):
    """What the user asked for, beside the streams themselves."""

    on: On
    within: Within
    time: tuple[str, str] | None
    shards: int
    suffixes: tuple[str, str]


def make_spec(frames: tuple[DataFrame, DataFrame], arguments: Arguments) -> JoinSpec:
    """Check the arguments against the streams and put them into a spec."""
    if not isinstance(arguments.within, Within):
        raise ParameterError(
            f"within={arguments.within!r} is not a window.",
            fix='pass within=Within(before="5 minutes", after="1 hour").',
        )
    if frames[0].isStreaming != frames[1].isStreaming:
        raise ParameterError(
            "one side is a stream and the other is a table.",
            fix="read both with readStream, or both with read.",
        )
    pairs = key_pairs(arguments.on)
    schemas = (frames[0].schema, frames[1].schema)
    for place, name in enumerate(_NAMES):
        keys = [pair[place] for pair in pairs]
        require_columns(name, keys, schemas[place].names)
    direct = _check_keys(pairs, schemas)
    sides = []
    for place in (0, 1):
        time = _event_time(frames[place], _NAMES[place], place, arguments.time)
        columns = tuple((f.name, f.dataType.simpleString()) for f in schemas[place])
        sides.append(SideSpec(columns, tuple(pair[place] for pair in pairs), time))
    _check_times(sides, schemas)
    return JoinSpec(
        left=sides[0],
        right=sides[1],
        before_us=arguments.within.before_us,
        after_us=arguments.within.after_us,
        shards=arguments.shards,
        direct=direct,
        output=output_columns(
            schemas[0].names, schemas[1].names, pairs, arguments.suffixes
        ),
    )


def _check_keys(
    pairs: tuple[tuple[str, str], ...], schemas: tuple[StructType, StructType]
) -> bool:
    """Refuse keys that do not join; tell whether the key fits 64 bits."""
    for left, right in pairs:
        kinds = schemas[0][left].dataType, schemas[1][right].dataType
        if kinds[0] != kinds[1]:
            name = kinds[0].simpleString()
            raise ColumnTypeError(
                f"key {left!r} is of type {name}, key {right!r} of type "
                f"{kinds[1].simpleString()}.",
                fix=f'cast one side, e.g. right.withColumn("{right}", '
                f'col("{right}").cast("{name}")).',
            )
        if not _hashable(kinds[0]):
            raise ColumnTypeError(
                f"key {left!r} is of type {kinds[0].simpleString()}, which Spark "
                "cannot hash or compare byte by byte.",
                fix="join by another column, or by a text form of this one.",
            )
    return len(pairs) == 1 and isinstance(
        schemas[0][pairs[0][0]].dataType, _FITS_64_BITS
    )


def _check_times(sides: list[SideSpec], schemas: tuple[StructType, StructType]) -> None:
    """Refuse times with and without a time zone: what lies between is not known."""
    left, right = (
        schema[side.time].dataType for side, schema in zip(sides, schemas, strict=True)
    )
    if left != right:
        raise ColumnTypeError(
            f"the event time {sides[0].time!r} is of type {left.simpleString()}, "
            f"{sides[1].time!r} of type {right.simpleString()}.",
            fix=f'cast one before withWatermark, e.g. right.withColumn("{sides[1].time}'
            f'", col("{sides[1].time}").cast("{left.simpleString()}")).',
        )


def _hashable(kind: DataType) -> bool:
    if isinstance(kind, StringType):
        return kind == StringType() or kind.simpleString() == "string"
    if isinstance(kind, StructType):
        return all(_hashable(field.dataType) for field in kind)
    element = getattr(kind, "elementType", None)
    if element is not None:
        return _hashable(element)
    odd = ("variant", "interval", "calendarinterval", "geometry", "geography", "void")
    return not isinstance(kind, MapType) and kind.typeName() not in odd


def _event_time(
    frame: DataFrame, side: str, place: int, given: tuple[str, str] | None
) -> str:
    marked = [field.name for field in frame.schema if DELAY in field.metadata]
    if given is not None:
        time = given[place]
        require_columns(side, [time], frame.schema.names)
        if frame.isStreaming and time not in marked:
            raise ColumnError(
                f"the {side} stream has no watermark on {time!r}.",
                fix=f'call {side}.withWatermark("{time}", "10 minutes") first.',
            )
    elif len(marked) == 1:
        time = marked[0]
    else:
        raise _no_time(frame, side, marked)
    kind = frame.schema[time].dataType
    if not isinstance(kind, TimestampType | TimestampNTZType):
        raise ColumnTypeError(
            f"the event time {time!r} of the {side} stream is of type "
            f"{kind.simpleString()}.",
            fix=f"call {side}.withWatermark(...) on a timestamp, e.g. after "
            f'withColumn("{time}", col("{time}").cast("timestamp")).',
        )
    return time


def _no_time(frame: DataFrame, side: str, marked: list[str]) -> ColumnError:
    times = [f.name for f in frame.schema if isinstance(f.dataType, TimestampType)]
    example = times[0] if times else "event_time"
    if marked:
        return ColumnError(
            f"the {side} stream has several event-time columns: {marked}.",
            fix='name one per side: time=("left_time", "right_time").',
        )
    if frame.isStreaming:
        return ColumnError(
            f"the {side} stream has no watermark, so its rows could never leave.",
            fix=f'call {side}.withWatermark("{example}", "10 minutes") first.',
        )
    return ColumnError(
        f"the {side} table does not say which column is its event time.",
        fix=f'name one per side, e.g. time=("{example}", ...).',
    )
