"""A relation that does not change: it comes with the join, and is not stored."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shedjoin.columns.relating import Related
from shedjoin.errors import StateMismatchError
from shedjoin.operators.frame.join import Opening
from shedjoin.operators.star.relation import Applied, Relation
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.workspace import MemoryWorkspace
from shedjoin.types import IntArray


class FixedRelation:
    """Relation rows of one shard.

    It can be used for all micro-batches, because nothing is ever written to it.

    Parameters
    ----------
    rows : pyarrow.RecordBatch
        Packed relation rows.
    digest : str
        Digest of the relation rows of all shards.
    """

    def __init__(self, rows: pa.RecordBatch, digest: str) -> None:
        self._digest = digest
        self.rows = Relation(MemoryWorkspace(), 0, 0)
        new = self.rows.apply(Related.of(rows), table=True).new
        self._packed = rows.take(pa.array(new))

    def restore(self, blobs: Blobs) -> None:
        """Do nothing, because the relation is not stored."""

    def tidy(self, horizon_us: int) -> None:
        """Do nothing, because the relation is not stored."""

    def apply(self, changes: pa.RecordBatch, *, table: bool) -> Applied:
        """Raise, because the relation does not change."""
        raise TypeError(changes, table)

    def taken(self, slot: IntArray) -> pa.RecordBatch:
        """Packed rows of some slots."""
        return self._packed.take(pa.array(slot))

    @property
    def row_bytes(self) -> int:
        """Mean size of a packed row in bytes."""
        size: int = self._packed.nbytes // max(1, self._packed.num_rows)
        return size

    def write(self, changes: Commit) -> dict[str, Any]:
        """Facts to store: only the identity of the relation."""
        del changes
        return {"segments": [], "rows": 0, "ends": [], "digest": self._digest}

    def check(self, own: dict[str, Any]) -> None:
        """Raise if stored rows came while the relation was another one.

        Those rows are in the shards where the former relation placed them, and rows
        that it did not have were left out.
        """
        if own and own.get("digest") != self._digest:
            raise StateMismatchError(
                "the relation is not the one with which the checkpoint was written.",
                fix="start with a new checkpointLocation; or pass the changes of the "
                "relation as a stream, which may change while the query runs.",
            )


def fixed_relation(opening: Opening) -> FixedRelation | None:
    """Relation that an opening was given; None if the relation is a part of the state.

    What was stored is checked first.
    """
    given, directory = opening.relation, opening.directory
    if given is None:
        return None
    if not isinstance(given, FixedRelation):
        raise TypeError(given)
    given.check({} if directory is None else directory.own["relation"])
    return given
