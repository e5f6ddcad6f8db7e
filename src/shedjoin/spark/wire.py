"""Packed rows: the form of data between the stages of the query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    ByteType,
    DoubleType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from shedjoin.columns.arrivals import CONTROL, HEARTBEAT, Blob
from shedjoin.columns.ipc import decode_rows
from shedjoin.columns.packing import pack
from shedjoin.columns.routes import Side
from shedjoin.columns.schema import sound
from shedjoin.spark.shipping import Shipped
from shedjoin.spark.worker import is_first_partition, settle_worker
from shedjoin.spec.streams import ANCHOR, HASH_COLUMN, IMPORTANCE_COLUMN, JoinSpec

PACKED = StructType(
    [
        StructField("shard", IntegerType(), nullable=False),
        StructField("stream", ByteType(), nullable=False),
        StructField("digest", BinaryType(), nullable=False),
        StructField("blob", BinaryType(), nullable=False),
    ]
)
_PACKED_ARROW = pa.schema(
    [
        ("shard", pa.int32()),
        ("stream", pa.int8()),
        ("digest", pa.binary()),
        ("blob", pa.binary()),
    ]
)


JOINED = StructType(
    [
        StructField("results", BinaryType(), nullable=True),
        StructField("counts", ArrayType(DoubleType()), nullable=True),
    ]
)
"""Output of the operator: blobs of results, and counts in the order of their names.

All counts are in one column: a frame of fifty columns costs pandas more than a small
shard costs altogether.
"""


STEERED = StructType([*JOINED.fields, StructField("record", StringType())])
"""The output in a join with a control folder. One row has the record of messages."""

_RULES = {
    ("key", "rows"): "key",
    ("cells", "rows"): "cell",
    ("cells", "copies"): "cell",
    ("copies", "rows"): "content",
    ("copies", "copies"): "shard",
    ("relation", "rows"): "key",
    ("relation", "copies"): "shard",
}
"""What decides to which shards rows go, or copies of rows."""


class Routing(Protocol):
    """Gives the shards of rows in a join through a relation that does not change."""

    placed: str

    def side(self, stream: int) -> Side:
        """Shards of the keys of a stream."""


class Packing(NamedTuple):
    """How rows are packed.

    The ``name`` of the join distinguishes equal joins in a query. Otherwise Spark would
    shuffle their input once, and the second join would get no watermark. With ``beat``,
    the first task of the stage also sends every shard an empty row. So in a micro-batch
    with data, each shard gets the watermark, even if it gets no rows of its own. Shards
    need the watermark to find the late rows of the next micro-batch. Rows are
    ``weighed`` if a column of importance follows their own columns. If a join is
    ``steered``, its rows are counted, since a control message may give it a budget
    later.
    """

    name: str
    numbers: list[int]
    beat: bool
    weighed: bool
    steered: bool = False


class Packer(Shipped):
    """The function of the map stage that packs rows of one stream into blobs by shard.

    ``explain`` prints its name in the plan. The name says how shards are chosen.
    """

    def __init__(
        self,
        spec: JoinSpec,
        stream: int,
        packing: Packing,
        relation: Routing | None = None,
    ) -> None:
        alone = spec.placement == "key" or stream == ANCHOR
        if spec.placement == "relation":
            alone = stream != ANCHOR
        what = "rows" if alone else "copies"
        rule = _RULES[spec.placement, what] if relation is None else relation.placed
        self.__name__ = f"pack_{what}_by_{rule}"
        self._relation = relation
        self._spec = spec
        self._stream = stream
        self._packing = packing

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the rows of a task."""
        spec, stream, packing = self._spec, self._stream, self._packing
        numbers = packing.numbers
        settle_worker("pack")
        if packing.beat and is_first_partition():
            count = len(numbers)
            yield _packed(numbers, [HEARTBEAT] * count, *[[b""] * count] * 2)
        names = [name for name, _ in spec.streams[stream].columns]
        names += [IMPORTANCE_COLUMN] if packing.weighed else []
        names += [] if spec.direct else [HASH_COLUMN]
        named = (sound(batch.rename_columns(names)) for batch in batches)
        routes = None if self._relation is None else self._relation.side(stream)
        for place, blob in pack(named, stream, spec, routes, steered=packing.steered):
            yield packed_blob(numbers[place], blob.stream, blob)


def packed_blob(number: int, stream: int, blob: Blob) -> pa.RecordBatch:
    """One blob with the grouping key of its shard."""
    payload = pa.py_buffer(blob.payload)
    return _packed([number], [stream], [blob.digest], [payload])


class ControlPacker(Shipped):
    """The function of the map stage for control messages: each goes to every shard."""

    __name__ = "pack_messages"

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the files of a task."""
        count = len(self._numbers)
        for batch in batches:
            for name, text in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                yield _packed(
                    *(self._numbers, [CONTROL] * count),
                    *([name.encode()] * count, [text or b""] * count),
                )


def unpack_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn result blobs back into rows."""
    settle_worker("unpack")
    for batch in batches:
        for cell in batch.column(0):
            blob = cell.as_buffer()
            if blob is not None:
                yield from decode_rows(blob)


class Filler(Shipped):
    """Turns result blobs back into rows, if some columns are all null.

    A shard that has no rows of a stream does not know the types of its columns. Nulls
    in place of such a row come in columns of Arrow's null type.

    Parameters
    ----------
    schema : pyarrow.Schema
        Names and types of the result.
    """

    __name__ = "unpack_rows_and_nulls"

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack the rows of a task."""
        for rows in unpack_rows(batches):
            columns = [
                pa.nulls(rows.num_rows, field.type)
                if pa.types.is_null(column.type)
                else column
                for column, field in zip(rows.columns, self._schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, rows.schema.names)


def _packed(
    shard: list[int],
    stream: list[int],
    digest: list[bytes],
    blob: list[bytes | pa.Buffer],
) -> pa.RecordBatch:
    if len(blob) == 1:  # share the blob's memory
        offsets = pa.py_buffer(pa.array([0, len(blob[0])], pa.int32()).buffers()[1])
        buffers = [None, offsets, pa.py_buffer(blob[0])]
        blobs = pa.Array.from_buffers(pa.binary(), 1, buffers)
    else:
        blobs = pa.array(blob, pa.binary())
    columns = [shard, stream, digest]
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(columns, _PACKED_ARROW, strict=False)
    ]
    return pa.RecordBatch.from_arrays([*arrays, blobs], schema=_PACKED_ARROW)
