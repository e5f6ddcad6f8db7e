"""The log of stored rows that left before they expired."""

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
    """Residents, some of which leave before they expire."""

    gone: list[IntArray]
    """Places of stored rows that have left, not yet written to the log."""

    @property
    def dead_rows(self) -> int:
        """Number of rows in segments that are not residents any more."""

    def dead(self) -> IntArray:
        """Places of all these rows."""


class GoneLog(ChangeLog):
    """Places of rows that are in segments but are not residents.

    Places in removed segments have no effect: segment numbers are never used again.

    Parameters
    ----------
    parts : sequence
        The stored parts.
    """

    def __init__(self, parts: Sequence[Sequence[int]] = ()) -> None:
        super().__init__(_LOG, "place", parts)

    def places(self, blobs: Blobs) -> IntArray:
        """Read all places, sorted."""
        found = [part.column("place").to_numpy() for part in self.read(blobs)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def write(self, store: Leaving, changes: Commit) -> None:
        """Write which rows left, or all that are missing if that is less over time."""
        gone = np.concatenate([np.zeros(0, np.int64), *store.gone])
        store.gone.clear()
        if self.is_long(gone.size, store.dead_rows):
            self.forget(changes)
            gone = store.dead()
        self.add(pa.record_batch({"place": np.sort(gone)}), changes)
