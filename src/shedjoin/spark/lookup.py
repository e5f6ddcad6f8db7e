"""The lookup join of a DataFrame with a relation."""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame

from shedjoin.request.lookup import (
    STREAM,
    Lookup,
    lookup_of,
    lookup_shards,
    lookup_spec,
)
from shedjoin.request.options import Options
from shedjoin.request.relations import Relation
from shedjoin.spark.columns import relation_of, stream_of
from shedjoin.spark.join import planned, shard_count
from shedjoin.spark.names import quoted
from shedjoin.spec.conditions import Conditions


def lookup_join(
    stream: DataFrame,
    relation: Relation,
    *,
    on: object,
    time: str | None,
    name: str,
    options: Options,
) -> DataFrame:
    """Join a DataFrame with a relation; see :func:`shedjoin.lookup_join`."""
    shards = lookup_shards(relation, options)
    own = stream_of(stream, STREAM)
    columns = relation_of(relation.rows, own)
    lookup = lookup_of(own, columns, relation, on, time)
    if not columns.is_running:
        return _with_table(stream, relation.rows, lookup)
    count = shard_count(stream, shards, Conditions((), ()))
    spec = lookup_spec(own, columns, lookup, count)
    joined = planned((stream,), spec, name, (None,), None, None, relation.rows)
    # A result has the time of its row, so the watermark holds for results as well.
    (row,) = spec.streams
    told = stream.schema[row.time].metadata
    given = [quoted(joined, name) for name in joined.columns]
    place = joined.columns.index(row.time)
    given[place] = given[place].alias(row.time, metadata=told)
    return joined.select(given)


def _with_table(stream: DataFrame, relation: DataFrame, lookup: Lookup) -> DataFrame:
    """Join with a table by Spark's own join, which keeps no state."""
    # With new names, columns differ even if both sides come from one DataFrame.
    places = {
        name: f"__shedjoin_r{place}" for place, name in enumerate(relation.columns)
    }
    table = relation.toDF(*places.values())
    own, others = lookup.keys
    conditions: list[Column] = [
        quoted(stream, name) == table[places[other]]
        for name, other in zip(own, others, strict=True)
    ]
    if lookup.time is not None:
        time = quoted(stream, lookup.time)
        conditions.append(time.isNotNull())
        begin, end = lookup.active.begin, lookup.active.end
        if begin is not None:
            since = table[places[begin]]
            conditions.append(since.isNull() | (since <= time))
        if end is not None:
            until = table[places[end]]
            conditions.append(until.isNull() | (time < until))
    joined = stream.join(table, reduce(and_, conditions))
    columns = [quoted(stream, name) for name in stream.columns]
    added = (table[places[name]].alias(name) for name in lookup.added)
    return joined.select(*columns, *added)
