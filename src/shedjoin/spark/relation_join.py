"""The join of a DataFrame with a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import ArrayType, StructType

from shedjoin.errors import ColumnError, ColumnTypeError
from shedjoin.spark.columns import Arguments, is_hashable, make_spec
from shedjoin.spark.event_time import DELAY
from shedjoin.spark.join import check_frames, planned, shard_count
from shedjoin.spark.names import name_fold, quoted
from shedjoin.spark.relating import check_streaming, check_times, key_columns
from shedjoin.spec.alone import STREAM, added_columns, told_columns, with_relation
from shedjoin.spec.conditions import Conditions
from shedjoin.spec.keys import On, key_pairs, resolve_columns
from shedjoin.spec.relation import RelationSpec, check_relation

_SIDE = "joined"
"""What the stream is called in errors."""


class _Asked(NamedTuple):
    """What is joined by what: columns of the stream, and those of the relation."""

    keys: tuple[tuple[str, ...], tuple[str, ...]]
    time: str | None
    active: RelationSpec


def relation_join(  # noqa: PLR0913  (documented in shedjoin.relations)
    stream: DataFrame,
    relation: DataFrame,
    *,
    on: On,
    valid: tuple[str, str] | None,
    change: tuple[str, str] | None,
    time: str | None,
    shards: int | None,
    name: str,
) -> DataFrame:
    """Join a DataFrame with a relation; see :func:`shedjoin.relation_join`."""
    check_frames({_SIDE: stream, "relation's": relation})
    check_streaming(stream, relation, valid, change)
    fold = name_fold(relation)
    active = check_relation(relation.columns, valid, change, fold)
    own, others = zip(*key_pairs(on), strict=True)
    keys = key_columns(_SIDE, stream, own, relation, others)
    told = told_columns(active, relation.columns)
    added = added_columns(stream.columns, told, keys[1], fold)
    asked = _Asked(keys, _time(stream, relation, active, time), active)
    if relation.isStreaming:
        count = shard_count(stream, shards, Conditions((), ()))
        return _with_changes(stream, relation, asked, count, name)
    return _with_table(stream, relation, asked, added)


def _with_table(
    stream: DataFrame, relation: DataFrame, asked: _Asked, added: Sequence[str]
) -> DataFrame:
    """Let Spark join with a table: no row waits, and nothing is kept."""
    # New names, and so other columns, even if both come from one DataFrame.
    places = {
        name: f"__shedjoin_r{place}" for place, name in enumerate(relation.columns)
    }
    table = relation.toDF(*places.values())
    own, others = asked.keys
    conditions: list[Column] = [
        quoted(stream, name) == table[places[other]]
        for name, other in zip(own, others, strict=True)
    ]
    if asked.time is not None:
        time = quoted(stream, asked.time)
        conditions.append(time.isNotNull())
        begin, end = asked.active.begin, asked.active.end
        if begin is not None:
            since = table[places[begin]]
            conditions.append(since.isNull() | (since <= time))
        if end is not None:
            until = table[places[end]]
            conditions.append(until.isNull() | (time < until))
    joined = stream.join(table, reduce(and_, conditions))
    columns = [quoted(stream, name) for name in stream.columns]
    return joined.select(*columns, *(table[places[name]].alias(name) for name in added))


def _with_changes(
    stream: DataFrame, relation: DataFrame, asked: _Asked, shards: int, name: str
) -> DataFrame:
    """Join with the relation as its changes have made it."""
    _check_told(relation, asked.active)
    if asked.time is None:
        raise TypeError(asked)
    arguments = Arguments(
        names=(STREAM,),
        keys=((),),
        keeps_us=(0,),
        time=(asked.time,),
        shards=shards,
        suffixes=("",),
    )
    columns = [(field.name, field.dataType.simpleString()) for field in relation.schema]
    spec = make_spec((stream,), arguments)
    active = replace(asked.active, columns=tuple(columns))
    spec = with_relation(spec, active, asked.keys, name_fold(relation))
    joined = planned((stream,), spec, name, (None,), None, None, relation)
    # A result has the time of its row, which came in time.
    told = stream.schema[asked.time].metadata
    given = [quoted(joined, name) for name in joined.columns]
    place = joined.columns.index(asked.time)
    given[place] = given[place].alias(asked.time, metadata=told)
    return joined.select(given)


def _time(
    stream: DataFrame, relation: DataFrame, active: RelationSpec, given: str | None
) -> str | None:
    """Find the time of rows; None if nothing asks for it."""
    limits = [name for name in (active.begin, active.end) if name is not None]
    marked = [field.name for field in stream.schema if DELAY in field.metadata]
    if given is not None:
        (time,) = resolve_columns(_SIDE, [given], stream.columns, name_fold(stream))
    elif len(marked) == 1:
        time = marked[0]
    elif not limits and not relation.isStreaming:
        return None
    else:
        said = f"the watermarks {marked}" if marked else "no watermark"
        raise ColumnError(
            f"the stream has {said}, and no time= says at which time its rows are "
            "joined.",
            fix='pass time="clicked_at"; with changes of the relation also call '
            'stream.withWatermark("clicked_at", "10 minutes").',
        )
    check_times(relation, limits, {time: stream.schema[time].dataType})
    return time


def _check_told(relation: DataFrame, active: RelationSpec) -> None:
    """Refuse columns by which relation rows could not be told apart."""
    for name in told_columns(active, relation.columns):
        kind = relation.schema[name].dataType
        if not is_hashable(kind) or isinstance(kind, ArrayType | StructType):
            raise ColumnTypeError(
                f"column {name!r} of the relation is of type {kind.simpleString()}, by "
                "which changes cannot find their rows.",
                fix=f'leave it out, or give it as text, e.g. F.to_json("{name}").',
            )
