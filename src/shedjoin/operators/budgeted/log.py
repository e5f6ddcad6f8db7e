"""The slot table and the models as stored: logs of what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shedjoin.operators.budgeted.table import SlotTable
from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog
from shedjoin.types import IntArray

_TABLE, _MODELS = range(2)


class TableLog(ChangeLog):
    """Slots that changed.

    Parameters
    ----------
    parts : sequence
        What is stored.
    """

    def __init__(self, parts: Sequence[Sequence[int]] = ()) -> None:
        super().__init__(_TABLE, "slot", parts)

    def restore(self, table: SlotTable, blobs: Blobs) -> None:
        """Put all that is stored into a table."""
        for part in self.read(blobs):
            table.put(_columns(part))
        table.clean()

    def write(self, table: SlotTable, changes: Commit) -> None:
        """Write the slots that changed, or all if that is less in the long run.

        All, too, when residents have moved to other slots: the log speaks of the old
        ones.
        """
        slots = table.dirty()
        if table.moved or self.is_long(slots.size, table.count):
            self.forget(changes)
            slots = table.alive()
        table.clean()
        self.add(pa.record_batch(table.hot(slots)), changes)


class ModelsLog(ChangeLog):
    """Words of the models that changed.

    Parameters
    ----------
    parts : sequence
        What is stored.
    words : array, optional
        The models as stored.
    """

    def __init__(
        self, parts: Sequence[Sequence[int]] = (), words: IntArray | None = None
    ) -> None:
        super().__init__(_MODELS, "at", parts)
        self._stored = np.zeros(0, np.int64) if words is None else words.copy()

    def restore(self, words: IntArray, blobs: Blobs) -> None:
        """Put all that is stored into the words of models."""
        for part in self.read(blobs):
            columns = _columns(part)
            words[columns["at"]] = columns["word"]
        self._stored = words.copy()

    def write(self, words: IntArray, changes: Commit) -> None:
        """Write the words that changed, or all but zeros if that is less.

        All, too, of models of another size than those stored.
        """
        if self._stored.size != words.size:
            self.forget(changes)
            self._stored = np.zeros_like(words)
        at = changed = np.flatnonzero(words != self._stored)
        if self.is_long(changed.size, int(np.count_nonzero(words))):
            self.forget(changes)
            at = np.flatnonzero(words)
        entries = {"at": at.astype(np.int32), "word": words[at]}
        self.add(pa.record_batch(entries), changes)
        self._stored[changed] = words[changed]


def _columns(rows: pa.RecordBatch) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }
