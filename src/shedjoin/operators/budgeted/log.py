"""The stored form of the slot table: a log of the slots that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog

_TABLE = 0


class TableLog(ChangeLog):
    """Writes and reads the slots of a table.

    Parameters
    ----------
    parts : sequence
        The stored parts.
    """

    def __init__(self, parts: Sequence[Sequence[int]] = ()) -> None:
        super().__init__(_TABLE, "slot", parts)

    def restore(self, table: SlotTable, blobs: Blobs) -> None:
        """Copy all stored slots into a table."""
        for part in self.read(blobs):
            table.put(_columns(part))
        table.clean()

    def write(self, table: SlotTable, changes: Commit) -> None:
        """Write the slots that changed since the last call.

        If the log has become much longer than the table, it is replaced by all slots
        with residents. The same is done if residents have moved to other slots, because
        the log refers to the old slots.
        """
        slots = table.dirty()
        if table.moved or self.is_long(slots.size, table.count):
            self.forget(changes)
            slots = table.alive()
        table.clean()
        self.add(pa.record_batch(table.hot(slots)), changes)


def _columns(rows: pa.RecordBatch) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }
