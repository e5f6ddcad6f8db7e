"""Rows of segments that left before their time, as stored: a log of their places."""

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
    """Residents, some of whom leave before their time."""

    gone: list[IntArray]
    """Places of stored rows that left, not yet written."""

    @property
    def dead_rows(self) -> int:
        """How many rows of segments are not there any more."""

    def dead(self) -> IntArray:
        """Places of all these."""


class GoneLog(ChangeLog):
    """Places of rows that are in segments and are not residents.

    Places of segments that have gone since mean nothing: numbers are never used again.

    Parameters
    ----------
    parts : sequence
        What is stored.
    """

    def __init__(self, parts: Sequence[Sequence[int]] = ()) -> None:
        super().__init__(_LOG, "place", parts)

    def places(self, blobs: Blobs) -> IntArray:
        """All places, in order."""
        found = [part.column("place").to_numpy() for part in self.read(blobs)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def write(self, store: Leaving, changes: Commit) -> None:
        """Write who left, or all who are not there if that is less in the long run."""
        gone = np.concatenate([np.zeros(0, np.int64), *store.gone])
        store.gone.clear()
        if self.is_long(gone.size, store.dead_rows):
            self.forget(changes)
            gone = store.dead()
        self.add(pa.record_batch({"place": np.sort(gone)}), changes)
