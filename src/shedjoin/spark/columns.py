"""Descriptions of DataFrames as the streams of a request."""

from __future__ import annotations

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
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from shedjoin.errors import ParameterError
from shedjoin.request.streams import Column, Stream, kind_of
from shedjoin.spark.event_time import DELAY, event_times, is_joined
from shedjoin.spark.names import name_fold

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


def stream_of(frame: object, name: str) -> Stream:
    """Describe a DataFrame."""
    if not isinstance(frame, DataFrame):
        raise ParameterError(
            f"the {name} stream is {kind_of(frame)}, not a DataFrame of Spark.",
            fix="pass spark.readStream...load(); tables of pyarrow are joined by "
            "shedjoin.local.join.",
        )
    fields = frame.schema.fields
    return Stream(
        name,
        tuple(map(_column, fields)),
        fold=name_fold(frame),
        is_running=frame.isStreaming,
        marked=tuple(field.name for field in fields if DELAY in field.metadata),
        lags_us=event_times(frame) if frame.isStreaming else {},
        is_result=is_joined(frame),
    )


def relation_of(rows: object, stream: Stream) -> Stream:
    """Describe the relation that a stream is joined with."""
    relation = stream_of(rows, "relation")
    if relation.is_running and not stream.is_running:
        raise ParameterError(
            "the relation is a stream, and the streams are tables.",
            fix="read the relation with read, too, and pass valid=.",
        )
    return relation


def _column(field: StructField) -> Column:
    kind = field.dataType
    arrow = _ARROW_TYPES.get(kind.simpleString(), pa.null())
    if isinstance(kind, DecimalType):
        arrow = pa.decimal128(kind.precision, kind.scale)
    is_short = isinstance(kind, _FITS_64_BITS)
    return Column(field.name, kind.simpleString(), arrow, is_hashable(kind), is_short)


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
