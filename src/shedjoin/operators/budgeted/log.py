"""The slot table as stored: a log of what changed.

What changes with every match or shed is small: each micro-batch adds the slots that
changed, and when the log has grown to twice the table it is replaced by the table
itself. So what is written is proportional to what changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.state.blobs import Blobs, Commit, load_segment

_FIRST = -3


class TableLog:
    """Parts of the log.

    Parameters
    ----------
    parts : list of int
        Numbers of the stored parts, oldest first; they count downwards.
    rows : int
        Slots in all parts together.
    """

    def __init__(self, parts: list[int] | None = None, rows: int = 0) -> None:
        self.parts = parts or []
        self.rows = rows

    def restore(self, table: SlotTable, blobs: Blobs) -> None:
        """Put all that is stored into a table."""
        for number in self.parts:
            table.put(_columns(load_segment(blobs, number)))
        table.clean()

    def write(self, table: SlotTable, changes: Commit) -> None:
        """Write the slots that changed, or all if that is less in the long run.

        All, too, when residents have moved to other slots: the log speaks of the old
        ones.
        """
        slots = table.dirty()
        number = (self.parts[-1] if self.parts else _FIRST) - 1
        if table.moved or self.rows + slots.size > 2 * table.count + 1024:
            for part in self.parts:
                changes.remove(part)
            slots, self.parts, self.rows = table.alive(), [], 0
        table.clean()
        if slots.size:
            self.parts.append(number)
            self.rows += slots.size
            changes.put_rows(number, pa.record_batch(table.hot(slots)))


def _columns(rows: pa.RecordBatch) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }
