"""The stored form of models: a log of the words that changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog
from shedjoin.types import IntArray

_LOG = 1


class ModelsLog(ChangeLog):
    """Words of the models that changed.

    Parameters
    ----------
    parts : sequence
        The stored parts.
    words : array, optional
        The models as they are stored.
    log : int
        Number of the log within the shard.
    """

    def __init__(
        self,
        parts: Sequence[Sequence[int]] = (),
        words: IntArray | None = None,
        log: int = _LOG,
    ) -> None:
        super().__init__(log, "at", parts)
        self._stored = np.zeros(0, np.int64) if words is None else words.copy()

    def restore(self, words: IntArray, blobs: Blobs) -> None:
        """Copy everything that is stored into the words of models."""
        for part in self.read(blobs):
            at, word = (column.to_numpy() for column in part.select(["at", "word"]))
            words[at] = word
        self._stored = words.copy()

    def write(self, words: IntArray, changes: Commit) -> None:
        """Write the words that changed, or all that are not zero if that is less.

        If models have another size than the stored ones, all words are written.
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
