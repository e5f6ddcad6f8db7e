"""Packed relation rows: the keys of both streams, and when they belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.hashing import hash_rows
from shedjoin.columns.hot import as_int64, as_integers, in_microseconds
from shedjoin.errors import ParameterError
from shedjoin.spec.relation import (
    ALWAYS_US,
    BEGIN,
    DELETED,
    END,
    LEFT_KEY,
    RIGHT_KEY,
    TOLD,
    RelationSpec,
)
from shedjoin.types import BoolArray, IntArray

_CHANGES = ("insert", "delete")


class Related(NamedTuple):
    """Relation rows and deletions; a deletion has an end but no begin.

    ``told`` has a hash of those columns of the relation that results contain. It is
    None if there are no such columns.
    """

    left: IntArray
    right: IntArray
    begin: IntArray
    end: IntArray
    deleted: BoolArray
    told: IntArray | None = None

    @staticmethod
    def of(rows: pa.RecordBatch) -> Related:
        """Read packed rows."""
        names = (LEFT_KEY, RIGHT_KEY, BEGIN, END)
        left, right, begin, end = (as_int64(rows.column(name)) for name in names)
        deleted = rows.column(DELETED).to_numpy(zero_copy_only=False)
        told = as_int64(rows.column(TOLD)) if TOLD in rows.schema.names else None
        return Related(left, right, begin, end, deleted, told)

    def take(self, at: IntArray) -> Related:
        """Select rows by index."""
        left, right, begin, end = (each[at] for each in self[:4])
        told = None if self.told is None else self.told[at]
        return Related(left, right, begin, end, self.deleted[at], told)

    @property
    def others(self) -> IntArray:
        """Hashes that distinguish rows with equal keys and times, or only zeros."""
        return np.zeros(self.left.size, np.int64) if self.told is None else self.told


def relation_rows(
    rows: pa.RecordBatch,
    spec: RelationSpec,
    hashes: Sequence[str] = (),
    streams: int = 2,
) -> pa.RecordBatch:
    """Pack keys and times of relation rows; and the key columns, if keys are hashed.

    ``hashes`` names the columns with the hashes of both keys. Without them, a key is
    the bits of its column. Rows with a null key match nothing and are left out. In a
    join of one stream, packed rows also have all columns that identify a relation row.
    """
    for name in {name for own in spec.keys[:streams] for name in own}:
        if rows.column(name).null_count:
            rows = rows.filter(pc.is_valid(rows.column(name)))
    begin = _times(rows, spec.begin, -ALWAYS_US)
    end = _times(rows, spec.end, ALWAYS_US)
    deleted = np.zeros(rows.num_rows, np.bool_)
    if spec.change is not None:
        deleted = _deleted(rows.column(spec.change))
        end = np.where(deleted, begin, end)
        begin = np.where(deleted, -ALWAYS_US, begin)
    keys = hashes or [own[0] for own in spec.keys]
    packed = {
        LEFT_KEY: as_int64(rows.column(keys[0])),
        RIGHT_KEY: as_int64(rows.column(keys[1])),
        BEGIN: begin,
        END: end,
        DELETED: deleted,
    }
    if streams == 1:
        packed |= {name: rows.column(name) for name in spec.keys[1]}
    elif hashes:
        for side, own in enumerate(spec.keys):
            names = key_names(side, len(own))
            columns = (_with_one_zero(rows.column(name)) for name in own)
            packed |= dict(zip(names, columns, strict=True))
    if spec.told:
        told = [rows.column(name) for name in spec.told]
        packed[TOLD] = pa.array(hash_rows([*told, *_nulls(told)]))
        packed |= dict(zip(spec.told, told, strict=True))
    return pa.record_batch(packed)


def with_hashes(
    rows: pa.RecordBatch, spec: RelationSpec, streams: int = 2
) -> pa.RecordBatch:
    """Add a column with the hash of each key, named as in packed rows."""
    for side, own in enumerate(spec.keys):
        columns = [rows.column(key) for key in own]
        if side >= streams:  # here a null is a value, which must differ from zero
            columns += _nulls(columns)
        hashed = pa.array(hash_rows(columns))
        rows = rows.append_column((LEFT_KEY, RIGHT_KEY)[side], hashed)
    return rows


def _nulls(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Flags of nulls, as separate columns, because a null hashes like a zero."""
    return [pc.cast(pc.is_null(each), pa.int8()) for each in columns]


def key_names(side: int, count: int) -> list[str]:
    """Names of the key columns in packed rows if keys are hashed."""
    return [f"__shedjoin_key_{side}_{place}" for place in range(count)]


def _with_one_zero(column: pa.Array) -> pa.Array:
    """Replace minus zero by zero, so that equal relations have equal bytes."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.add(column, pa.scalar(0.0, column.type))


def _times(rows: pa.RecordBatch, name: str | None, unlimited: int) -> IntArray:
    if name is None:
        return np.full(rows.num_rows, unlimited)
    times = as_integers(in_microseconds(rows.column(name))).fill_null(unlimited)
    return np.clip(as_int64(times), -ALWAYS_US, ALWAYS_US)


def _deleted(column: pa.Array) -> BoolArray:
    """Flags that are true for changes that are deletions."""
    said = pc.utf8_lower(column.cast(pa.string()))
    unknown = pc.invert(pc.is_in(said, pa.array(_CHANGES)))
    if pc.any(unknown).as_py():
        what = column.filter(unknown)[0].as_py()
        raise ParameterError(
            f"a change of the relation is {what!r}.",
            fix='write "insert" or "delete" into the column, e.g. by F.when(...).',
        )
    deleted: BoolArray = pc.equal(said, "delete").to_numpy(zero_copy_only=False)
    return deleted
