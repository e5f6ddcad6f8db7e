"""Builds joined rows from the matches of a chunk of arrivals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Chunk
from shedjoin.operators.frame.combine import Met, combine_rows
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.segments import Segment
from shedjoin.types import IntArray

ROOM = 1 << 17
ROOM_BYTES = 32 << 20
"""Limits of the results that are built at once, in rows and in bytes. Lower limits
would make a join slower, and higher limits would take more memory."""

Parts: TypeAlias = Iterator[tuple[pa.RecordBatch, IntArray, IntArray]]
"""For each segment: its rows, the positions of the requested rows in the segment, and
their positions in the request."""


class Kept(Protocol):
    """Residents whose rows can be looked up."""

    spec: JoinSpec

    def by_segment(self, stream: int, slots: IntArray) -> Parts:
        """Group residents of a stream by segment, given their slots."""


def room_for(chunk: Chunk, stored: Iterable[Iterable[Segment]]) -> int:
    """Number of matches to gather at once, given the mean size of a result.

    The mean size follows from the rows of ``chunk``, and from ``stored``, which holds
    the segments of each of the other streams.
    """
    size = chunk.rows.nbytes // chunk.rows.num_rows
    return room_within(size + sum(map(row_bytes, stored)))


def row_bytes(segments: Iterable[Segment]) -> int:
    """Mean size of the rows of some segments, in bytes."""
    found = list(segments)
    total = sum(segment.bytes for segment in found)
    return total // max(1, sum(segment.rows for segment in found))


def room_within(size: int) -> int:
    """Number of results of this size to gather at once."""
    return max(1, min(ROOM, ROOM_BYTES // (int(size) + 1)))


def gather_results(
    kept: Kept, chunk: Chunk, arrival: IntArray, slots: Mapping[int, IntArray]
) -> Iterator[pa.RecordBatch]:
    """Yield joined rows of arrivals and residents, which are given by their slots.

    The rows of the last stream of ``slots`` are read segment by segment. The rows of
    the other streams are read before, all at once.
    """
    *some, last = slots
    taken = {
        stream: gathered(kept.by_segment(stream, slots[stream]), arrival.size)
        for stream in some
    }
    streams = range(len(kept.spec.streams))
    for rows, hit, at in kept.by_segment(last, slots[last]):
        met = {stream: Met(taken[stream], at) for stream in some}
        met |= {last: Met(rows, hit), chunk.stream: Met(chunk.rows, arrival[at])}
        yield from combine_rows(kept.spec, [met[stream] for stream in streams])


def gathered(found: Parts, count: int) -> pa.RecordBatch:
    """Return rows that were grouped by segment, in the order of the request."""
    parts, places = [], []
    for rows, hit, at in found:
        parts.append(rows.take(pa.array(hit)))
        places.append(at)
    order = np.empty(count, np.int64)
    order[np.concatenate(places)] = np.arange(count)
    return pa.concat_batches(parts).take(pa.array(order))
