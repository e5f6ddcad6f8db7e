"""A relation that does not change: no part of the state, but given with the join."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shedjoin.columns.relating import Related
from shedjoin.operators.star.relation import Grown, Relation
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.workspace import MemoryWorkspace
from shedjoin.types import IntArray


class FixedRelation:
    """Relation rows of one shard.

    It can be kept for all micro-batches: nothing is ever written to it.

    Parameters
    ----------
    rows : pyarrow.RecordBatch
        Packed relation rows.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = Relation(MemoryWorkspace(), 0, 0)
        new = self.rows.apply(Related.of(rows)).new
        self._packed = rows.take(pa.array(new))

    def restore(self, blobs: Blobs) -> None:
        """Nothing of it is stored."""

    def tidy(self, horizon_us: int) -> None:
        """Nothing of it is stored."""

    def apply(self, changes: pa.RecordBatch) -> tuple[Grown, IntArray]:
        """Refuse changes."""
        raise TypeError(changes)

    def taken(self, slot: IntArray) -> pa.RecordBatch:
        """Packed rows of some slots."""
        return self._packed.take(pa.array(slot))

    def write(self, changes: Commit) -> dict[str, Any]:
        """Nothing of it is stored."""
        del changes
        return {"segments": [], "rows": 0, "ends": []}
