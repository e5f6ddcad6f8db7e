"""Record batches in groups of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

CHUNK_BYTES = 32 << 20
"""Rows are joined and stored in chunks of about this size."""


PIECE_BYTES = 1 << 19
"""Rows are sent and stored in pieces of about this size.

The JVM's garbage collector treats arrays of half a region and more (0.5 to 2 MB with
common heaps) as *humongous*: each of them gets regions of its own, and may start a
marking cycle.
"""


def pieces(batch: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    """Cut a batch into slices of about ``size`` bytes, with equal numbers of rows."""
    count = -(-batch.nbytes // size)
    rows = max(1, -(-batch.num_rows // max(1, count)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def grouped(
    batches: Iterable[pa.RecordBatch], size: int
) -> Iterator[list[pa.RecordBatch]]:
    """Group record batches into lists of about ``size`` bytes or more.

    Empty batches are left out, and no group is empty. The last group may be smaller.
    """
    group: list[pa.RecordBatch] = []
    room = size
    for batch in batches:
        if batch.num_rows:
            group.append(batch)
            room -= batch.nbytes
        if room <= 0:
            yield group
            group, room = [], size
    if group:
        yield group


def chunked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Concatenate record batches into chunks of about ``CHUNK_BYTES``."""
    for group in grouped(batches, CHUNK_BYTES):
        yield pa.concat_batches(group) if len(group) > 1 else group[0]
