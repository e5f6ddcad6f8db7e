"""Numbered blobs: the form in which an engine holds the state of a shard."""

from __future__ import annotations

import hashlib
from typing import Protocol

import pyarrow as pa

from shedjoin.columns.ipc import decode_batch, encode_rows
from shedjoin.errors import StateMismatchError

DIRECTORY = -1
"""Number of the directory. Segments have numbers from 0 on, logs have lower numbers."""
FACTS = -(1 << 62)
"""Number of the facts of the join, which are written once. No log has this number."""


class Blobs(Protocol):
    """Numbered blobs of one shard. They are its state; all else is a copy of them."""

    def get(self, number: int) -> bytes | None:
        """Return a blob, or None if there is none."""

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob in place of an older one."""

    def remove(self, number: int) -> None:
        """Remove a blob."""


def load_segment(blobs: Blobs, number: int) -> pa.RecordBatch:
    """Read a blob; raise if it is missing."""
    blob = blobs.get(number)
    if blob is None:
        raise StateMismatchError(
            f"the checkpoint names blob {number} of a shard but lacks it.",
            fix="restore the checkpoint from a backup, or start with a new one.",
        )
    return decode_batch(blob)


class Commit:
    """Writes of one micro-batch, and the token of the resulting state.

    The token is a hash over the token of the state before, and over all that is written
    or removed. States with equal tokens are therefore equal, byte for byte, whichever
    task computed them.

    Parameters
    ----------
    blobs : Blobs
        Where to write.
    former : str
        The token of the state before.
    """

    def __init__(self, blobs: Blobs, former: str) -> None:
        self._blobs = blobs
        self._hash = hashlib.sha256(former.encode())
        self.written_bytes = 0

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob."""
        self._note(number, blob)
        self._blobs.put(number, blob)
        self.written_bytes += len(blob)

    def put_rows(self, number: int, rows: pa.RecordBatch) -> None:
        """Store rows."""
        blob = encode_rows([rows], rows.schema, stored=True)
        self.put(number, blob.to_pybytes())

    def rows(self, number: int) -> pa.RecordBatch:
        """Read rows stored before."""
        return load_segment(self._blobs, number)

    def remove(self, number: int) -> None:
        """Remove a blob."""
        self._note(number, b"")
        self._blobs.remove(number)

    def token(self, directory: bytes) -> str:
        """Token of the state; ``directory`` is its directory without the token."""
        self._note(DIRECTORY, directory)
        return self._hash.hexdigest()

    def _note(self, number: int, blob: bytes) -> None:
        self._hash.update(f"{number} {len(blob)} ".encode())
        self._hash.update(blob)
