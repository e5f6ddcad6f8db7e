"""State in and out: a shard as numbered blobs, whoever holds them."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from shedjoin.core.codec import (
    Directory,
    decode_directory,
    decode_segment,
    encode_directory,
    encode_rows,
)
from shedjoin.core.spec import JoinSpec
from shedjoin.core.store import EMPTY, WindowStore
from shedjoin.core.workspace import Workspace
from shedjoin.errors import StateMismatchError

DIRECTORY = -1
"""The number under which the directory is stored; segments count from zero."""


class Blobs(Protocol):
    """Numbered blobs of one shard: the truth about its state."""

    def get(self, number: int) -> bytes | None:
        """Give a blob, or None."""

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob in place of an older one."""

    def remove(self, number: int) -> None:
        """Forget a blob."""


def stored_directory(blobs: Blobs, spec: JoinSpec) -> Directory:
    """Read the directory; an empty one for a shard that has no state yet."""
    blob = blobs.get(DIRECTORY)
    return EMPTY if blob is None else decode_directory(blob, spec.fingerprint())


def restore(
    blobs: Blobs, directory: Directory, spec: JoinSpec, workspace: Workspace
) -> WindowStore:
    """Decode a shard's state into a workspace."""
    store = WindowStore(spec, workspace, directory)
    store.restore(lambda number: load_segment(blobs, number), directory)
    return store


def load_segment(blobs: Blobs, number: int) -> pa.RecordBatch:
    """Read a blob that must be there."""
    blob = blobs.get(number)
    if blob is None:
        raise StateMismatchError(
            f"the checkpoint names blob {number} of a shard but lacks it.",
            fix="restore the checkpoint from a backup, or start with a new one.",
        )
    return decode_segment(blob)


def commit(store: WindowStore, blobs: Blobs, token: str) -> int:
    """Write what a micro-batch changed; return the bytes written."""
    for number in store.dropped:
        blobs.remove(number)
    encoded = {
        number: encode_rows([rows], rows.schema, stored=True).to_pybytes()
        for number, rows in store.written.items()
    }
    directory = store.directory(token)
    encoded[DIRECTORY] = encode_directory(directory, store.spec.fingerprint())
    for number, blob in encoded.items():
        blobs.put(number, blob)
    store.dropped.clear()
    store.written.clear()
    return sum(map(len, encoded.values()))
