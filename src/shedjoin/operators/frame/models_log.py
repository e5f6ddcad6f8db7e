"""The stored form of models: a log of the words that changed in their array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shedjoin.state.blobs import Blobs, Commit
from shedjoin.state.changes import ChangeLog
from shedjoin.types import IntArray

_LOG = 1


class ModelsLog(ChangeLog):
    """Writes and reads the words of models; a word is a 64-bit integer.

    Parameters
    ----------
    parts : sequence
        The stored parts.
    words : array, optional
        The words of the models as they are stored.
    log : int
        Number of the log within the shard; each log has its own numbers of blobs.
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
        """Copy all stored words into an array of words."""
        for part in self.read(blobs):
            at, word = (column.to_numpy() for column in part.select(["at", "word"]))
            words[at] = word
        self._stored = words.copy()

    def write(self, words: IntArray, changes: Commit) -> None:
        """Write the words that changed since the last call.

        If the log has become much longer than the models, it is replaced by all words
        that are not zero. The same is done if the size of the models has changed.
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
