"""Record batches in groups of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

CHUNK_BYTES = 64 << 20
"""Rows are joined and stored in chunks of about this size."""


def grouped(
    batches: Iterable[pa.RecordBatch], size: int
) -> Iterator[list[pa.RecordBatch]]:
    """Cut a stream of record batches whenever it has come to ``size`` bytes.

    Batches without rows are left out, and so are groups without batches.
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
    """Put record batches together into chunks."""
    for group in grouped(batches, CHUNK_BYTES):
        yield pa.concat_batches(group) if len(group) > 1 else group[0]
