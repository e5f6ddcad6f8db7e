"""Tables as streams: which rows take part, and under which 64-bit key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.hot import as_int64, fits_64_bits
from shedjoin.errors import ColumnTypeError
from shedjoin.spec.importance import Source, evaluate
from shedjoin.spec.keys import On, key_pairs, output_columns, require_columns
from shedjoin.spec.streams import (
    CLUSTER_COLUMN,
    HASH_COLUMN,
    IMPORTANCE_COLUMN,
    WEIGHT_COLUMN,
    JoinSpec,
    SideSpec,
)
from shedjoin.spec.window import Within
from shedjoin.types import IntArray


def make_spec(
    schemas: tuple[pa.Schema, pa.Schema],
    on: On,
    within: Within,
    time: tuple[str, str],
    shards: int,
    suffixes: tuple[str, str],
) -> JoinSpec:
    """Check the arguments of a join of tables and put them into a spec."""
    pairs = key_pairs(on)
    sides = []
    for place, side in enumerate(("left", "right")):
        schema = schemas[place]
        keys = tuple(pair[place] for pair in pairs)
        require_columns(side, (*keys, time[place]), schema.names)
        if not pa.types.is_timestamp(schema.field(time[place]).type):
            raise ColumnTypeError(
                f"the {side} event time {time[place]!r} is of type "
                f"{schema.field(time[place]).type}.",
                fix="cast it to a timestamp, e.g. pa.timestamp('us', 'UTC').",
            )
        columns = tuple((field.name, str(field.type)) for field in schema)
        sides.append(SideSpec(columns, keys, time[place]))
    zones = [schemas[side].field(time[side]).type.tz is None for side in (0, 1)]
    if zones[0] != zones[1]:
        raise ColumnTypeError(
            f"of the event times {time[0]!r} and {time[1]!r} only one has a time zone.",
            fix="cast one of them, e.g. to pa.timestamp('us', 'UTC').",
        )
    kinds = [schemas[0].field(a).type for a, _ in pairs]
    for (a, b), kind in zip(pairs, kinds, strict=True):
        if schemas[1].field(b).type != kind:
            raise ColumnTypeError(
                f"key {a!r} is of type {kind}, key {b!r} of type "
                f"{schemas[1].field(b).type}.",
                fix=f"cast one of them, e.g. to {kind}.",
            )
    return JoinSpec(
        left=sides[0],
        right=sides[1],
        before_us=within.before_us,
        after_us=within.after_us,
        shards=shards,
        direct=len(pairs) == 1 and fits_64_bits(kinds[0]),
        output=output_columns(schemas[0].names, schemas[1].names, pairs, suffixes),
    )


def usable_rows(table: pa.Table, side: SideSpec, *, direct: bool) -> pa.RecordBatch:
    """Rows with a key and a time, with the hash of their key if the join needs one."""
    for name in (*side.keys, side.time):
        if table[name].null_count:
            table = table.filter(pc.is_valid(table[name]))
    rows = pa.concat_batches(table.to_batches()) if table.num_rows else _empty(table)
    if direct:
        return rows
    hashed = pa.array(_hash_rows([rows.column(name) for name in side.keys]))
    return rows.append_column(HASH_COLUMN, hashed)


def with_importance(rows: pa.RecordBatch, source: Source | None) -> pa.RecordBatch:
    """Rows with their importance, if their side has any."""
    if source is None:
        return rows
    return rows.append_column(IMPORTANCE_COLUMN, evaluate(source, rows))


def result_schema(schemas: tuple[pa.Schema, pa.Schema], spec: JoinSpec) -> pa.Schema:
    """Names and types of the joined rows."""
    said = pa.schema([(WEIGHT_COLUMN, pa.float64()), (CLUSTER_COLUMN, pa.int64())])
    origin = (*schemas, said)
    return pa.schema(
        [(c.name, origin[c.side].field(c.source).type) for c in spec.output]
    )


def _empty(table: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=table.schema)


def _hash_rows(columns: list[pa.Array]) -> IntArray:
    # Compiled kernels are needed only here: importing them takes a moment.
    from shedjoin.kernels.hashing import chain_bytes, chain_words

    out = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if fits_64_bits(column.type):
            out = chain_words(out, as_int64(column))
        elif pa.types.is_floating(column.type):
            plain = column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
            plain[np.isnan(plain)] = np.nan
            out = chain_words(out, plain.view(np.int64))
        else:
            text = _as_binary(column)
            offset, data = text.buffers()[1:]
            places = np.frombuffer(offset, np.int32)[text.offset :][: len(text) + 1]
            letters = np.frombuffer(data or b"", np.uint8)
            out = chain_bytes(out, places, letters)
    return out


def _as_binary(column: pa.Array) -> pa.Array:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    try:
        return column.cast(pa.binary())
    except pa.ArrowNotImplementedError as error:
        raise ColumnTypeError(
            f"a key of type {column.type} cannot be hashed here.",
            fix="join by integers, text, bytes, decimals, dates or timestamps.",
        ) from error
