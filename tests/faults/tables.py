"""A relation that is a table: Spark sends it to the workers, beside the rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.columns.ipc import decode_rows
from shedjoin.columns.packing import pack
from shedjoin.columns.routes import Routes
from shedjoin.spark.relation import SentRelation
from shedjoin.spec.relation import BEGIN, END, LEFT_KEY, RELATION, RIGHT_KEY
from shedjoin.spec.streams import JoinSpec


def sent_relation(blobs: Iterable[Blob], spec: JoinSpec) -> SentRelation:
    """Make the relation that is sent from the relation rows of a local run."""
    rows = pa.concat_batches(
        [
            batch
            for blob in blobs
            if blob.stream == RELATION
            for batch in decode_rows(blob.payload)
        ]
    )
    names = (LEFT_KEY, RIGHT_KEY, BEGIN, END)
    rows = rows.sort_by([(name, "ascending") for name in names])
    return SentRelation(rows, Routes.of(rows, spec.shards))


def routed(blobs: Iterable[Blob], spec: JoinSpec, sent: SentRelation) -> list[Blob]:
    """Pack rows as a query does: only those that have a relation row."""
    return [
        packed
        for blob in blobs
        if blob.stream != RELATION
        for _, packed in pack(
            decode_rows(blob.payload), blob.stream, spec, sent.side(blob.stream)
        )
    ]
