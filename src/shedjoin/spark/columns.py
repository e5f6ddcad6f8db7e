"""From DataFrames and the user's arguments to a checked spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from shedjoin.columns.terms import Streams
from shedjoin.errors import ColumnError, ColumnTypeError, ParameterError
from shedjoin.spark.event_time import DELAY, is_event_time, is_joined, lag_of
from shedjoin.spark.names import name_fold
from shedjoin.spec.cells import Cells
from shedjoin.spec.keys import Fold, output_columns, resolve_columns
from shedjoin.spec.predicates import Predicate
from shedjoin.spec.streams import JoinSpec, StreamSpec

_FITS_64_BITS = (
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    DateType,
    TimestampType,
    TimestampNTZType,
)

_ARROW_TYPES = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
}


class Arguments(NamedTuple):
    """What the user asked for, beside the streams themselves; each by stream."""

    names: Sequence[str]
    keys: Sequence[tuple[str, ...]]
    keeps_us: Sequence[int]
    time: Sequence[str] | None
    shards: int
    suffixes: Sequence[str]
    predicates: Sequence[Predicate] = ()
    cells: Cells | None = None


def make_spec(frames: Sequence[DataFrame], arguments: Arguments) -> JoinSpec:
    """Check the arguments against the streams and put them into a spec."""
    if len({frame.isStreaming for frame in frames}) > 1:
        raise ParameterError(
            "one side is a stream and the other is a table.",
            fix="read both with readStream, or both with read.",
        )
    names, fold = arguments.names, name_fold(frames[0])
    schemas = [frame.schema for frame in frames]
    keys = [
        resolve_columns(name, own, schema.names, fold)
        for name, own, schema in zip(names, arguments.keys, schemas, strict=True)
    ]
    direct = _check_keys(names, keys, schemas)
    streams = []
    for number, name in enumerate(names):
        given = None if arguments.time is None else arguments.time[number]
        time = _event_time(frames[number], name, given, fold)
        columns = tuple((f.name, f.dataType.simpleString()) for f in schemas[number])
        keep_us, lag_us = arguments.keeps_us[number], lag_of(frames[number], time)
        streams.append(StreamSpec(name, columns, keys[number], time, keep_us, lag_us))
    _check_times(streams, schemas)
    spec = JoinSpec(
        streams=tuple(streams),
        shards=arguments.shards,
        direct=direct,
        output=output_columns(
            [schema.names for schema in schemas], keys, arguments.suffixes, fold
        ),
    )
    known = Streams(names, [_arrow_schema(schema) for schema in schemas], fold)
    return spec.with_terms(known.terms(arguments.predicates), arguments.cells)


def _check_keys(
    names: Sequence[str],
    keys: Sequence[tuple[str, ...]],
    schemas: Sequence[StructType],
) -> bool:
    """Refuse keys that do not join; tell whether the key fits 64 bits."""
    kinds = [schemas[0][name].dataType for name in keys[0]]
    for first, kind in zip(keys[0], kinds, strict=True):
        if not is_hashable(kind):
            raise ColumnTypeError(
                f"key {first!r} is of type {kind.simpleString()}, which Spark "
                "cannot hash or compare byte by byte.",
                fix="join by another column, or by a text form of this one.",
            )
    for stream, own, schema in zip(names, keys, schemas, strict=True):
        for first, name, kind in zip(keys[0], own, kinds, strict=True):
            if schema[name].dataType != kind:
                wanted = kind.simpleString()
                raise ColumnTypeError(
                    f"key {first!r} is of type {wanted}, key {name!r} of type "
                    f"{schema[name].dataType.simpleString()}.",
                    fix=f'cast one side, e.g. {stream}.withColumn("{name}", '
                    f'col("{name}").cast("{wanted}")).',
                )
    return not kinds or fits_64_bits(kinds)


def fits_64_bits(kinds: Sequence[DataType]) -> bool:
    """Whether a key of columns of these types can be compared by its own bits."""
    return len(kinds) == 1 and isinstance(kinds[0], _FITS_64_BITS)


def _arrow_schema(schema: StructType) -> pa.Schema:
    """Types of columns as rows carry them; null of those that only functions take."""
    fields = []
    for field in schema:
        kind = _ARROW_TYPES.get(field.dataType.simpleString(), pa.null())
        if isinstance(field.dataType, DecimalType):
            kind = pa.decimal128(field.dataType.precision, field.dataType.scale)
        fields.append((field.name, kind))
    return pa.schema(fields)


def _check_times(streams: list[StreamSpec], schemas: Sequence[StructType]) -> None:
    """Refuse times with and without a time zone: what lies between is not known."""
    first, *others = (
        (stream, schema[stream.time].dataType.simpleString())
        for stream, schema in zip(streams, schemas, strict=True)
    )
    for stream, kind in others:
        if kind != first[1]:
            raise ColumnTypeError(
                f"the event time {first[0].time!r} is of type {first[1]}, "
                f"{stream.time!r} of type {kind}.",
                fix=f"cast one before withWatermark, e.g. {stream.name}.withColumn("
                f'"{stream.time}", col("{stream.time}").cast("{first[1]}")).',
            )


def is_hashable(kind: DataType) -> bool:
    """Whether Spark can hash a column, and compare it byte by byte."""
    if isinstance(kind, StringType):
        return kind == StringType() or kind.simpleString() == "string"
    if isinstance(kind, StructType):
        return all(is_hashable(field.dataType) for field in kind)
    element = getattr(kind, "elementType", None)
    if element is not None:
        return is_hashable(element)
    odd = ("variant", "interval", "calendarinterval", "geometry", "geography", "void")
    return not isinstance(kind, MapType) and kind.typeName() not in odd


def _event_time(frame: DataFrame, side: str, given: str | None, fold: Fold) -> str:
    marked = [field.name for field in frame.schema if DELAY in field.metadata]
    if given is not None:
        (time,) = resolve_columns(side, [given], frame.schema.names, fold)
        if frame.isStreaming and not is_event_time(frame, time):
            raise ColumnError(
                f"the {side} stream has no watermark on {time!r}.",
                fix=_watermark_for(frame, side, time),
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


def _watermark_for(frame: DataFrame, side: str, time: str) -> str:
    """What to do about a stream without a watermark; Spark refuses a second one."""
    if is_joined(frame):
        return (
            'pass event_time="matched_at" to the join that it comes from and go by '
            f'that time, or name one of its times, e.g. "{time}", in time=.'
        )
    return f'call {side}.withWatermark("{time}", "10 minutes") first.'


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
            fix=_watermark_for(frame, side, example),
        )
    return ColumnError(
        f"the {side} table does not say which column is its event time.",
        fix=f'name one per side, e.g. time=("{example}", ...).',
    )
