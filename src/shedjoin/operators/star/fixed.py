"""A relation that does not change: no part of the state, but given with the join."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shedjoin.columns.relating import Related
from shedjoin.errors import StateMismatchError
from shedjoin.operators.star.relation import Applied, Relation
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
    digest : str
        Of the relation rows of all shards.
    """

    def __init__(self, rows: pa.RecordBatch, digest: str) -> None:
        self._digest = digest
        self.rows = Relation(MemoryWorkspace(), 0, 0)
        new = self.rows.apply(Related.of(rows), table=True).new
        self._packed = rows.take(pa.array(new))

    def restore(self, blobs: Blobs) -> None:
        """Nothing of it is stored."""

    def tidy(self, horizon_us: int) -> None:
        """Nothing of it is stored."""

    def apply(self, changes: pa.RecordBatch, *, table: bool) -> Applied:
        """Refuse changes."""
        raise TypeError(changes, table)

    def taken(self, slot: IntArray) -> pa.RecordBatch:
        """Packed rows of some slots."""
        return self._packed.take(pa.array(slot))

    @property
    def row_bytes(self) -> int:
        """Average size of a packed row."""
        size: int = self._packed.nbytes // max(1, self._packed.num_rows)
        return size

    def write(self, changes: Commit) -> dict[str, Any]:
        """Nothing of it is stored but which one it is."""
        del changes
        return {"segments": [], "rows": 0, "ends": [], "digest": self._digest}

    def check(self, own: dict[str, Any]) -> None:
        """Refuse to go on with rows that came while the relation was another one.

        They are in the shards that it had for them, and were left out where it did not
        have them.
        """
        if own and own.get("digest") != self._digest:
            raise StateMismatchError(
                "the relation is not the one with which the checkpoint was written.",
                fix="start with a new checkpointLocation; or pass the changes of the "
                "relation as a stream, which may change while the query runs.",
            )
