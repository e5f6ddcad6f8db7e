"""A relation that does not change: it is passed to the join, and not stored."""

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

    One object serves all micro-batches, because it never changes.

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
        """Facts to store: the digest, which identifies the relation, but no rows."""
        del changes
        return {"segments": [], "rows": 0, "ends": [], "digest": self._digest}

    def check(self, own: dict[str, Any]) -> None:
        """Raise if ``own``, the stored facts, were written under another relation.

        The relation decides in which shards rows are stored. Rows that it does not
        connect are not stored at all. So another relation needs other stored rows.
        """
        if own and own.get("digest") != self._digest:
            raise StateMismatchError(
                "the rows in the checkpoint were stored under another relation.",
                fix="start with a new checkpointLocation; or pass the changes of the "
                "relation as a stream, which may change while the query runs.",
            )


def fixed_relation(opening: Opening) -> FixedRelation | None:
    """The fixed relation of a join; None if the relation is a part of the state.

    Raise if rows were stored under another relation.
    """
    given, directory = opening.relation, opening.directory
    if given is None:
        return None
    if not isinstance(given, FixedRelation):
        raise TypeError(given)
    given.check({} if directory is None else directory.own["relation"])
    return given
