"""All arrivals of a micro-batch in one order: (time, side, digest, position)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.core.arrivals import Blob, chunks
from shedjoin.core.budgeted.table import SLOT_BYTES
from shedjoin.core.sizes import row_sizes
from shedjoin.core.spec import IMPORTANCE_COLUMN, JoinSpec
from shedjoin.types import SIDES, FloatArray, IntArray

_ROUNDING = 8


class Ordered(NamedTuple):
    """Arrivals of both sides as columns; ``origin`` is the row in the side's batch."""

    side: IntArray
    key: IntArray
    time: IntArray
    importance: FloatArray
    size: IntArray
    origin: IntArray
    rows: tuple[pa.RecordBatch, pa.RecordBatch]
    seen: tuple[int, int]


def ordered(blobs: Sequence[Blob], spec: JoinSpec, late_ms: int) -> Ordered:
    """Decode blobs, leave late rows out and put the rest in order."""
    parts: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])
    keys: list[IntArray] = []
    times: list[IntArray] = []
    seen = [0, 0]
    for chunk in chunks(blobs, spec, late_ms):
        seen[chunk.side] += chunk.seen
        if chunk.rows.num_rows:
            parts[chunk.side].append(chunk.rows)
            keys.append(chunk.hot.key)
            times.append(chunk.hot.time)
    batches = [pa.concat_batches(part) if part else None for part in parts]
    counts = [0 if batch is None else batch.num_rows for batch in batches]
    time = np.concatenate([np.zeros(0, np.int64), *times])
    order = np.argsort(time, kind="stable")  # left rows stand before right ones
    side = np.repeat(np.array(SIDES), counts)
    rows = order.size
    importance, size = np.full(rows, np.inf), np.ones(rows, np.int64)
    if any(batch is not None and _has_importance(batch) for batch in batches):
        importance = np.concatenate([_importance(batch) for batch in batches])[order]
    if _in_bytes(spec):
        size = np.concatenate([_size(batch) for batch in batches])[order]
    return Ordered(
        side=side[order],
        key=np.concatenate([np.zeros(0, np.int64), *keys])[order],
        time=time[order],
        importance=importance,
        size=size,
        origin=np.concatenate([np.arange(count) for count in counts])[order],
        rows=(batches[0], batches[1]),
        seen=(seen[0], seen[1]),
    )


def _in_bytes(spec: JoinSpec) -> bool:
    return spec.shedding is not None and spec.shedding.budget.in_bytes


def _has_importance(rows: pa.RecordBatch) -> bool:
    return IMPORTANCE_COLUMN in rows.schema.names


def _importance(rows: pa.RecordBatch | None) -> FloatArray:
    """Importance of each row; infinite on a side that has none: it has no say."""
    if rows is None:
        return np.zeros(0)
    if not _has_importance(rows):
        return np.full(rows.num_rows, np.inf)
    column = rows.column(IMPORTANCE_COLUMN).cast(pa.float64()).fill_null(0.0)
    found: FloatArray = column.to_numpy(zero_copy_only=False)
    return np.nan_to_num(found, nan=0.0)


def _size(rows: pa.RecordBatch | None) -> IntArray:
    """What a row takes from a budget in bytes."""
    if rows is None:
        return np.zeros(0, np.int64)
    return row_sizes(rows) + (SLOT_BYTES + _ROUNDING)
