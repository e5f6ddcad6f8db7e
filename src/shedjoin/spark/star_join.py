"""The join of two DataFrames through a relation."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import TimestampNTZType, TimestampType

from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.spark.columns import Arguments, fits_64_bits, is_hashable, make_spec
from shedjoin.spark.event_time import DELAY
from shedjoin.spark.importance import importance_columns
from shedjoin.spark.join import check_frames, planned, shard_count
from shedjoin.spark.names import name_fold
from shedjoin.spec.conditions import Conditions
from shedjoin.spec.keys import SIDES, check_pair, resolve_columns
from shedjoin.spec.relation import (
    RelationSpec,
    Through,
    check_relation,
    parse_delay,
    relation_keys,
)
from shedjoin.spec.shedding import Shedding
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.window import Duration, Within, check_window


def star_join(  # noqa: PLR0913  (documented in shedjoin.api)
    left: DataFrame,
    right: DataFrame,
    relation: DataFrame,
    *,
    on: Through,
    within: Within,
    valid: tuple[str, str] | None,
    change: tuple[str, str] | None,
    delay: Duration,
    shedding: Shedding | None,
    importance: object,
    time: tuple[str, str] | None,
    shards: int | None,
    suffixes: tuple[str, str],
    name: str,
    event_time: str | None,
) -> DataFrame:
    """Join two DataFrames through a relation; see :func:`shedjoin.star_join`."""
    check_window(within)
    check_frames({"left": left, "right": right, "relation's": relation})
    arguments = Arguments(
        names=SIDES,
        keys=((), ()),
        keeps_us=(within.after_us, within.before_us),
        time=None if time is None else check_pair("time", time),
        shards=shard_count(left, shards, Conditions((), ())),
        suffixes=check_pair("suffixes", suffixes),
    )
    frames = (left, right)
    spec = make_spec(frames, arguments)
    _check_streaming(left, relation, change)
    active = check_relation(relation.columns, valid, change, name_fold(relation))
    active = replace(
        active, delay_us=parse_delay(delay), fixed=not relation.isStreaming
    )
    spec = _through(spec, frames, relation, on, active).with_shedding(shedding)
    worth = importance_columns(importance, frames)
    return planned(frames, spec, name, worth, event_time, None, relation)


def _check_streaming(
    left: DataFrame, relation: DataFrame, change: tuple[str, str] | None
) -> None:
    """Refuse relations that could not be followed, or would hold the join back."""
    if not relation.isStreaming:
        if change is not None:
            raise ParameterError(
                f"change={change!r} names changes, and the relation is a table.",
                fix="read the changes with readStream; or pass valid=, the columns of "
                "the times from which on and before which rows are active.",
            )
        return
    if not left.isStreaming:
        raise ParameterError(
            "the relation is a stream, and the streams are tables.",
            fix="read the relation with read, too, and pass valid=.",
        )
    marked = [field.name for field in relation.schema if DELAY in field.metadata]
    if marked:
        raise ParameterError(
            f"the relation has a watermark on {marked[0]!r}: while the relation does "
            "not change, it would keep the rows of both streams from ever leaving.",
            fix="leave out withWatermark of the relation; delay= says how late its "
            "changes may come.",
        )


def _through(
    spec: JoinSpec,
    frames: tuple[DataFrame, DataFrame],
    relation: DataFrame,
    on: Through,
    active: RelationSpec,
) -> JoinSpec:
    """Say through which columns of a relation two streams are joined."""
    fold, schema = name_fold(relation), relation.schema
    for column in (active.begin, active.end):
        kind = None if column is None else schema[column].dataType
        if kind is not None and not isinstance(kind, TimestampType | TimestampNTZType):
            raise ColumnTypeError(
                f"{column!r} of the relation is of type {kind.simpleString()}.",
                fix=f'cast it, e.g. withColumn("{column}", '
                f'col("{column}").cast("timestamp")).',
            )
    given, related = relation_keys(on)
    own, keys, direct = [], [], True
    for side, frame, names, others in zip(SIDES, frames, given, related, strict=True):
        own.append(resolve_columns(side, names, frame.columns, fold))
        keys.append(resolve_columns("relation's", others, relation.columns, fold))
        kinds = [frame.schema[column].dataType for column in own[-1]]
        direct &= fits_64_bits(kinds)
        for column, other, kind in zip(own[-1], keys[-1], kinds, strict=True):
            same = schema[other].dataType
            if kind != same or not is_hashable(kind):
                raise ColumnTypeError(
                    f"column {column!r} of the {side} stream is of type "
                    f"{kind.simpleString()}, column {other!r} of the relation of type "
                    f"{same.simpleString()}.",
                    fix="cast one of them; both must be of one type that Spark can "
                    "hash.",
                )
    columns = tuple((field.name, field.dataType.simpleString()) for field in schema)
    active = replace(active, columns=columns, keys=(keys[0], keys[1]))
    return spec.through(active, own, direct=direct)
