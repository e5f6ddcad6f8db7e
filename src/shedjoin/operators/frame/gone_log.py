"""A log of stored rows that are no longer residents, but have not expired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog
from shedjoin.types import IntArray

_LOG = 0


class Leaving(Protocol):
    """A store whose residents may be dropped before they expire."""

    gone: list[IntArray]
    """Places of dropped rows that are not written to the log yet."""

    @property
    def dead_rows(self) -> int:
        """Number of stored rows that are not residents any more."""

    def dead(self) -> IntArray:
        """Places of all stored rows that are not residents any more."""


class GoneLog(ChangeLog):
    """Stores the places of rows that are in segments but are not residents.

    The log may contain places in removed segments. These places have no effect, because
    segment numbers are never used again.

    Parameters
    ----------
    parts : sequence
        The stored parts.
    """

    def __init__(self, parts: Sequence[Sequence[int]] = ()) -> None:
        super().__init__(_LOG, "place", parts)

    def places(self, blobs: Blobs) -> IntArray:
        """Read all places of the log, sorted and without duplicates."""
        found = [part.column("place").to_numpy() for part in self.read(blobs)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def write(self, store: Leaving, changes: Commit) -> None:
        """Write the places of rows dropped since the last call.

        If the log has become much longer than needed, it is replaced by the places of
        all dropped rows that are still in segments.
        """
        gone = np.concatenate([np.zeros(0, np.int64), *store.gone])
        store.gone.clear()
        if self.is_long(gone.size, store.dead_rows):
            self.forget(changes)
            gone = store.dead()
        self.add(pa.record_batch({"place": np.sort(gone)}), changes)
