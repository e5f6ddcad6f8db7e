"""Tables as streams: which rows take part, and under which 64-bit key."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.hashing import hash_rows, is_hashed
from shedjoin.columns.hot import fits_64_bits
from shedjoin.errors import ParameterError
from shedjoin.request.streams import Column, Stream, kind_of
from shedjoin.spec.importance import Source, evaluate
from shedjoin.spec.streams import (
    CLUSTER_COLUMN,
    HASH_COLUMN,
    IMPORTANCE_COLUMN,
    WEIGHT_COLUMN,
    JoinSpec,
    StreamSpec,
)


def check_tables(tables: object) -> None:
    """Refuse a micro-batch that is not a pair of tables."""
    if isinstance(tables, Sequence) and [*map(type, tables)] == [pa.Table] * 2:
        return
    what = kind_of(tables)
    if isinstance(tables, list | tuple):
        what = f"({', '.join(map(kind_of, tables))})"
    raise ParameterError(
        f"a micro-batch is {what}, not a pair of tables.",
        fix="pass a list of pairs of pyarrow tables: local.join([(left, right)], ...). "
        "A frame of pandas becomes one by pa.Table.from_pandas(frame); DataFrames of "
        "Spark are joined by shedjoin.join.",
    )


def stream_of(schema: pa.Schema, name: str, *, is_running: bool = False) -> Stream:
    """Describe a table; ``is_running`` if more rows of it come later."""
    columns = tuple(
        Column(
            *(field.name, str(field.type), field.type),
            *(is_hashed(field.type), fits_64_bits(field.type)),
        )
        for field in schema
    )
    return Stream(name, columns, is_running=is_running)


def usable_rows(
    table: pa.Table,
    stream: StreamSpec,
    named: Sequence[str] = (),
    *,
    direct: bool,
    preserved: bool = False,
) -> pa.RecordBatch:
    """Rows whose key, time and ``named`` columns are not null.

    Rows of a ``preserved`` stream may do without a key. Unless keys are ``direct``, a
    column with their hashes is added.
    """
    keys = () if preserved else stream.keys
    for name in (*keys, stream.time, *named):
        if table[name].null_count:
            table = table.filter(pc.is_valid(table[name]))
    rows = pa.concat_batches(table.to_batches()) if table.num_rows else _empty(table)
    if direct:
        return rows
    hashed = pa.array(hash_rows([rows.column(name) for name in stream.keys]))
    return rows.append_column(HASH_COLUMN, hashed)


def with_importance(rows: pa.RecordBatch, source: Source | None) -> pa.RecordBatch:
    """Add the importance of rows, if their stream has any."""
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
