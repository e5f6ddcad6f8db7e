"""Builds results that have the columns of one stream: rows without a partner."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from shedjoin.operators.frame.combine import Met, joined_columns
from shedjoin.spec.streams import JoinSpec


def left_rows(spec: JoinSpec, met: Met) -> Iterator[pa.RecordBatch]:
    """Yield left rows of a join whose results have no other columns."""
    if met.at.size:
        yield from joined_columns(spec, [met])


def unpaired_rows(spec: JoinSpec, stream: int, met: Met) -> Iterator[pa.RecordBatch]:
    """Yield rows without a partner; the columns of the other stream are null.

    A key that has the same name in both streams is one column of the result. It has the
    value of the row. Columns of nulls have Arrow's null type, because a shard that has
    no rows of the other stream does not know their types.
    """
    if spec.left_alone:
        yield from left_rows(spec, met)
        return
    source = dict(_sources(spec, stream))
    at = pa.array(met.at)
    columns = [
        met.rows.column(source[place]).take(at)
        if place in source
        else pa.nulls(met.at.size)
        for place in range(len(spec.output))
    ]
    yield pa.RecordBatch.from_arrays(columns, [c.name for c in spec.output])


def _sources(spec: JoinSpec, stream: int) -> Iterator[tuple[int, str]]:
    """Yield the columns of the result that a stream fills: their places and sources."""
    taken = {(column.stream, column.source) for column in spec.output}
    left, right = (own.keys for own in spec.streams)
    # Keys of the same name are one column of the result, which the left key fills.
    shared = {
        a: b
        for a, b in zip(left, right, strict=True)
        if (1, b) not in taken and a.lower() == b.lower()
    }
    for place, column in enumerate(spec.output):
        if column.stream == stream:
            yield place, column.source
        elif column.stream == 0 and column.source in shared:
            yield place, shared[column.source]
