"""A relation on Spark: its changes are packed, or all its rows are sent to workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin.columns.arrivals import digest
from shedjoin.columns.hot import as_int64
from shedjoin.columns.ipc import decode_rows, encode_rows
from shedjoin.columns.packing import pack_relation
from shedjoin.columns.relating import relation_rows
from shedjoin.columns.routes import Routes, Side
from shedjoin.columns.schema import plain, sound
from shedjoin.spark.names import quoted
from shedjoin.spark.shipping import Shipped
from shedjoin.spark.wire import PACKED, packed_blob
from shedjoin.spec.relation import (
    BEGIN,
    END,
    LEFT_KEY,
    RELATION,
    RIGHT_KEY,
    TOLD,
    RelationSpec,
)
from shedjoin.spec.streams import JoinSpec

if TYPE_CHECKING:
    from shedjoin.operators.star.fixed import FixedRelation

_SHARD = "__shedjoin_shard"
_HASHES = (LEFT_KEY, RIGHT_KEY)
_ORDER = (LEFT_KEY, RIGHT_KEY, BEGIN, END, TOLD)
_KEPT = 8
"""Limit of the relations that a worker keeps, including those of stopped queries."""


class RelationPacker(Shipped):
    """The function of the map stage for changes of a relation."""

    __name__ = "pack_relation_by_key"

    def __init__(self, spec: JoinSpec, numbers: list[int]) -> None:
        self._spec = spec
        self._numbers = numbers

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the changes of a task."""
        packed = (_packed_rows(batch, self._spec) for batch in batches)
        for place, blob in pack_relation(packed, self._spec):
            yield packed_blob(self._numbers[place], RELATION, blob)


class SentRelation(Shipped):
    """A relation that does not change, as it is sent to the workers.

    A worker decodes the relation once, for all its tasks.
    """

    def __init__(self, rows: pa.RecordBatch, routes: Routes) -> None:
        rows = rows.append_column(_SHARD, pa.array(routes.shard))
        self._blob = encode_rows([rows], rows.schema, stored=True).to_pybytes()
        self._digest = digest(self._blob).hex()
        share = "components" if routes.together else "relation"
        self.placed = f"{share}_of_at_most_{routes.largest}"

    def side(self, stream: int) -> Side:
        """Shards of the keys of a stream."""
        return self.opened().side(stream)

    def opened(self) -> OpenedRelation:
        """The decoded relation, which this worker keeps."""
        if self._digest not in _OPENED:
            if len(_OPENED) >= _KEPT:
                _OPENED.clear()
            _OPENED[self._digest] = OpenedRelation(self._blob, self._digest)
        return _OPENED[self._digest]


class OpenedRelation:
    """A decoded relation in a worker."""

    def __init__(self, blob: bytes, digest: str) -> None:
        self._digest = digest
        (self._rows,) = decode_rows(blob)
        self._shard = as_int64(self._rows.column(_SHARD))
        self._sides: dict[int, Side] = {}
        self._fixed: dict[int, FixedRelation] = {}

    def side(self, stream: int) -> Side:
        """Shards of the keys of a stream."""
        if stream not in self._sides:
            key = as_int64(self._rows.column(_HASHES[stream]))
            self._sides[stream] = Side.of(key, self._shard)
        return self._sides[stream]

    def of_shard(self, shard: int) -> FixedRelation:
        """The relation rows of a shard."""
        from shedjoin.operators.star.fixed import FixedRelation

        if shard not in self._fixed:
            mine = pa.array(np.flatnonzero(self._shard == shard))
            rows = self._rows.take(mine)
            self._fixed[shard] = FixedRelation(rows, self._digest)
        return self._fixed[shard]


_OPENED: dict[str, OpenedRelation] = {}


def related(
    relation: DataFrame | None, spec: JoinSpec, numbers: list[int]
) -> tuple[list[DataFrame], SentRelation | None]:
    """Changes of a relation as packed rows, or the whole of a fixed relation."""
    if relation is None:
        return [], None
    if not relation.isStreaming:
        return [], _sent(relation, spec)
    usable = _usable(relation, spec)
    return [usable.mapInArrow(RelationPacker(spec, numbers), PACKED)], None


def _sent(relation: DataFrame, spec: JoinSpec) -> SentRelation:
    """Read all of a relation, to be sent to the workers."""
    table = _usable(relation, spec).toArrow().combine_chunks()
    parts = [_packed_rows(batch, spec) for batch in table.to_batches()]
    empty = _packed_rows(pa.RecordBatch.from_pylist([], table.schema), spec)
    rows = pa.concat_batches([empty, *parts])
    # Rows are sorted, so that the order in which they are read does not matter.
    order = [name for name in _ORDER if name in rows.schema.names]
    rows = rows.sort_by([(name, "ascending") for name in order])
    return SentRelation(rows, Routes.of(rows, spec.shards))


def _packed_rows(batch: pa.RecordBatch, spec: JoinSpec) -> pa.RecordBatch:
    relation = _of(spec)
    names = [name for name, _ in relation.columns]
    hashes: Sequence[str] = () if spec.direct else _HASHES
    rows = plain(sound(batch.rename_columns([*names, *hashes])))
    return relation_rows(rows, relation, hashes, len(spec.streams))


def _usable(relation: DataFrame, spec: JoinSpec) -> DataFrame:
    """Name columns by position, since names may have dots, and add hashes of keys."""
    own = _of(spec)
    places = {name: f"c{place}" for place, (name, _) in enumerate(own.columns)}
    frame = relation.select([quoted(relation, name) for name in places]).toDF(
        *places.values()
    )
    if not spec.direct:
        for side, keys in enumerate(own.keys):
            columns = [F.col(places[key]) for key in keys]
            if side >= len(spec.streams):  # nulls are values, but xxhash64 skips them
                columns += [column.isNull() for column in columns]
            frame = frame.withColumn(_HASHES[side], F.xxhash64(*columns))
    return frame


def _of(spec: JoinSpec) -> RelationSpec:
    if spec.relation is None:
        raise TypeError(spec)
    return spec.relation
