"""What is asked of a relation, and of the columns by which streams are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, TimestampNTZType, TimestampType

from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.spark.columns import is_hashable
from shedjoin.spark.event_time import DELAY
from shedjoin.spark.names import name_fold
from shedjoin.spec.keys import resolve_columns


def check_streaming(
    stream: DataFrame,
    relation: DataFrame,
    valid: tuple[str, str] | None,
    change: tuple[str, str] | None,
) -> None:
    """Refuse relations that could not be followed, or would hold the join back."""
    if not relation.isStreaming:
        if change is not None and valid is None:
            raise ParameterError(
                f"change={change!r} names changes, and the relation is a table.",
                fix="read the changes with readStream; or pass valid=, the columns of "
                "the times from which on and before which rows are active.",
            )
        return
    if not stream.isStreaming:
        raise ParameterError(
            "the relation is a stream, and the streams are tables.",
            fix="read the relation with read, too, and pass valid=.",
        )
    if valid is None and change is None:
        raise ParameterError(
            "the relation is a stream, and neither change= nor valid= says when its "
            "rows are active.",
            fix='pass change=("change", "at"), the columns that say "insert" or '
            '"delete", and when; or valid=, those of begin and end.',
        )
    marked = [field.name for field in relation.schema if DELAY in field.metadata]
    if marked:
        raise ParameterError(
            f"the relation has a watermark on {marked[0]!r}: while the relation does "
            "not change, it would keep all that the join holds from ever leaving.",
            fix="leave out withWatermark of the relation: only that of a stream of "
            "rows counts.",
        )


def check_times(
    relation: DataFrame,
    columns: Sequence[str | None],
    times: Mapping[str, DataType],
) -> None:
    """Refuse times of a relation that are no timestamps, or others than of streams."""
    for column in columns:
        kind = None if column is None else relation.schema[column].dataType
        if kind is not None and not isinstance(kind, TimestampType | TimestampNTZType):
            raise ColumnTypeError(
                f"{column!r} of the relation is of type {kind.simpleString()}.",
                fix=f'cast it, e.g. withColumn("{column}", '
                f'col("{column}").cast("timestamp")).',
            )
        for time, own in times.items():
            if kind is not None and own != kind:
                raise ColumnTypeError(
                    f"the time {time!r} of the stream is of type {own.simpleString()}, "
                    f"{column!r} of the relation of type {kind.simpleString()}.",
                    fix="cast one of them; both must be timestamps with a time zone, "
                    "or both without.",
                )


def key_columns(
    side: str,
    frame: DataFrame,
    names: Sequence[str],
    relation: DataFrame,
    others: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the keys of a stream and those of a relation that equal them."""
    fold, schema = name_fold(relation), relation.schema
    own = resolve_columns(side, names, frame.columns, fold)
    keys = resolve_columns("relation's", others, relation.columns, fold)
    for column, other in zip(own, keys, strict=True):
        kind, same = frame.schema[column].dataType, schema[other].dataType
        if kind != same or not is_hashable(kind):
            raise ColumnTypeError(
                f"column {column!r} of the {side} stream is of type "
                f"{kind.simpleString()}, column {other!r} of the relation of type "
                f"{same.simpleString()}.",
                fix="cast one of them; both must be of one type that Spark can hash.",
            )
    return own, keys
