"""Tables as streams: which rows take part, and under which 64-bit key."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.hashing import hash_rows
from shedjoin.columns.hot import fits_64_bits
from shedjoin.columns.terms import Streams
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.spec.cells import Cells
from shedjoin.spec.conditions import OnPair, split_on
from shedjoin.spec.importance import Source, evaluate
from shedjoin.spec.keys import (
    SIDES,
    check_pair,
    output_columns,
    resolve_columns,
)
from shedjoin.spec.streams import (
    CLUSTER_COLUMN,
    HASH_COLUMN,
    IMPORTANCE_COLUMN,
    WEIGHT_COLUMN,
    JoinSpec,
    StreamSpec,
)
from shedjoin.spec.window import Within


def check_tables(tables: object) -> None:
    """Refuse what is not the two tables of a micro-batch."""
    if isinstance(tables, Sequence) and [*map(type, tables)] == [pa.Table] * 2:
        return
    raise ParameterError(
        f"a micro-batch of type {type(tables).__name__} is not a pair of tables.",
        fix="pass a list of pairs: local.join([(left, right)], ...).",
    )


def make_spec(
    schemas: Sequence[pa.Schema],
    on: OnPair,
    within: Within,
    time: Sequence[str],
    shards: int,
    suffixes: Sequence[str],
    cells: Cells | None = None,
) -> JoinSpec:
    """Check the arguments of a join of two tables and put them into a spec."""
    time, suffixes = check_pair("time", time), check_pair("suffixes", suffixes)
    conditions = split_on(on)
    keys, keeps_us = conditions.pair_keys(), (within.after_us, within.before_us)
    spec = spec_of(SIDES, schemas, keys, time, keeps_us, shards, suffixes)
    return spec.with_terms(Streams(SIDES, schemas).terms(conditions.predicates), cells)


def spec_of(
    names: Sequence[str],
    schemas: Sequence[pa.Schema],
    keys: Sequence[tuple[str, ...]],
    time: Sequence[str],
    keeps_us: Sequence[int],
    shards: int,
    suffixes: Sequence[str],
) -> JoinSpec:
    """Check the streams of a join, given by number."""
    streams = []
    for number, name in enumerate(names):
        schema, own = schemas[number], time[number]
        resolve_columns(name, (*keys[number], own), schema.names)
        if not pa.types.is_timestamp(schema.field(own).type):
            raise ColumnTypeError(
                f"the {name} event time {own!r} is of type {schema.field(own).type}.",
                fix="cast it to a timestamp, e.g. pa.timestamp('us', 'UTC'), or use "
                f"another of its columns: {', '.join(map(repr, schema.names))}.",
            )
        columns = tuple((field.name, str(field.type)) for field in schema)
        streams.append(StreamSpec(name, columns, keys[number], own, keeps_us[number]))
    _check_zones(schemas, time)
    kinds = _key_types(schemas, keys)
    return JoinSpec(
        streams=tuple(streams),
        shards=shards,
        direct=not kinds or (len(kinds) == 1 and fits_64_bits(kinds[0])),
        output=output_columns([schema.names for schema in schemas], keys, suffixes),
    )


def _check_zones(schemas: Sequence[pa.Schema], time: Sequence[str]) -> None:
    types = [s.field(name).type for s, name in zip(schemas, time, strict=True)]
    with_zone = [name for name, kind in zip(time, types, strict=True) if kind.tz]
    if 0 < len(with_zone) < len(types):
        names = " and ".join(map(repr, time))
        raise ColumnTypeError(
            f"of the event times {names} only {with_zone[0]!r} has a time zone.",
            fix="cast one of them, e.g. to pa.timestamp('us', 'UTC').",
        )


def _key_types(
    schemas: Sequence[pa.Schema], keys: Sequence[tuple[str, ...]]
) -> list[pa.DataType]:
    """Types of the keys, which must be alike in all streams."""
    kinds = [schemas[0].field(name).type for name in keys[0]]
    for schema, names in zip(schemas[1:], keys[1:], strict=True):
        for first, name, kind in zip(keys[0], names, kinds, strict=True):
            if schema.field(name).type != kind:
                raise ColumnTypeError(
                    f"key {first!r} is of type {kind}, key {name!r} of type "
                    f"{schema.field(name).type}.",
                    fix=f"cast one of them, e.g. to {kind}.",
                )
    return kinds


def usable_rows(
    table: pa.Table, stream: StreamSpec, named: Sequence[str] = (), *, direct: bool
) -> pa.RecordBatch:
    """Rows with a key and a time, with the hash of their key if the join needs one.

    Nor may the ``named`` columns be null.
    """
    for name in (*stream.keys, stream.time, *named):
        if table[name].null_count:
            table = table.filter(pc.is_valid(table[name]))
    rows = pa.concat_batches(table.to_batches()) if table.num_rows else _empty(table)
    if direct:
        return rows
    hashed = pa.array(hash_rows([rows.column(name) for name in stream.keys]))
    return rows.append_column(HASH_COLUMN, hashed)


def with_importance(rows: pa.RecordBatch, source: Source | None) -> pa.RecordBatch:
    """Rows with their importance, if their stream has any."""
    if source is None:
        return rows
    return rows.append_column(IMPORTANCE_COLUMN, evaluate(source, rows))


def result_schema(schemas: Sequence[pa.Schema], spec: JoinSpec) -> pa.Schema:
    """Names and types of the joined rows."""
    tags = pa.schema([(WEIGHT_COLUMN, pa.float64()), (CLUSTER_COLUMN, pa.int64())])
    origins = [tags if c.stream is None else schemas[c.stream] for c in spec.output]
    return pa.schema(
        [
            (column.name, origin.field(column.source).type)
            for column, origin in zip(spec.output, origins, strict=True)
        ]
    )


def _empty(table: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=table.schema)
