"""How the rows of a micro-batch reach the shards."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.packing import pack, pack_relation
from shedjoin.columns.relating import relation_rows, with_hashes
from shedjoin.local.tables import usable_rows, with_importance
from shedjoin.spec.importance import Source
from shedjoin.spec.relation import LEFT_KEY, RIGHT_KEY
from shedjoin.spec.streams import JoinSpec
from shedjoin.spec.terms import columns_of


@dataclass(frozen=True, slots=True)
class Delivery:
    """How rows reach the shards: each stream is cut into blobs, which are shuffled."""

    blobs: int = 1
    shuffle_seed: int = 0
    importance: Sequence[Source | None] = ()
    steered: bool = False

    def deliver(
        self, tables: Sequence[pa.Table], spec: JoinSpec
    ) -> Iterator[tuple[int, Blob]]:
        """Blobs of one micro-batch with their shards."""
        parts = []
        worth = self.importance or (None,) * len(spec.streams)
        for number, stream in enumerate(spec.streams):
            named = columns_of(spec.terms, number)
            usable = usable_rows(
                *(tables[number], stream, named),
                direct=spec.direct,
                preserved=spec.preserves[number],
            )
            usable = with_importance(usable, worth[number])
            size = -(-usable.num_rows // self.blobs) or 1
            starts = range(0, usable.num_rows, size)
            parts += [(number, usable.slice(start, size)) for start in starts]
        if self.blobs > 1:
            random.Random(self.shuffle_seed).shuffle(parts)  # noqa: S311
        for number, rows in parts:
            yield from pack([rows], number, spec, steered=self.steered)
        if spec.relation is not None:
            for table in tables[len(spec.streams) :]:
                yield from pack_relation(_related(table, spec), spec)


def _related(table: pa.Table, spec: JoinSpec) -> Iterator[pa.RecordBatch]:
    """Changes of a relation, in the form that shards read."""
    if spec.relation is not None:
        for rows in table.to_batches():
            if spec.direct:
                yield relation_rows(rows, spec.relation)
            else:
                streams, hashes = len(spec.streams), (LEFT_KEY, RIGHT_KEY)
                hashed = with_hashes(rows, spec.relation, streams)
                yield relation_rows(hashed, spec.relation, hashes, streams)


def greatest_us(table: pa.Table, spec: JoinSpec, number: int) -> int | None:
    """Latest time of the rows of a stream that take part; None if there are none."""
    stream = spec.streams[number]
    usable = usable_rows(
        *(table, stream, columns_of(spec.terms, number)),
        direct=True,
        preserved=spec.preserves[number],
    )
    time = usable.column(stream.time).cast(pa.timestamp("us"), safe=False)
    value: int | None = pc.max(time.view(pa.int64())).as_py()
    return value
