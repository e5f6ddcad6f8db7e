"""State of the exact join in and out."""

from __future__ import annotations

from shedjoin.operators.exact.store import EMPTY, WindowStore
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import DIRECTORY, Blobs, Commit, load_segment
from shedjoin.state.codec import Directory, decode_directory, encode_directory
from shedjoin.state.workspace import Workspace


def stored_directory(blobs: Blobs, spec: JoinSpec) -> Directory:
    """Read the directory; an empty one for a shard that has no state yet."""
    blob = blobs.get(DIRECTORY)
    return EMPTY if blob is None else decode_directory(blob, spec.fingerprint())


def restore(
    blobs: Blobs, directory: Directory, spec: JoinSpec, workspace: Workspace
) -> WindowStore:
    """Decode a shard's state into a workspace, one segment at a time."""
    store = WindowStore(spec, workspace, directory)
    store.restore(lambda number: load_segment(blobs, number), directory)
    return store


def commit(store: WindowStore, blobs: Blobs, former: str) -> tuple[str, int]:
    """Write what a micro-batch changed; return the new token and the bytes written.

    New segments come first, one at a time out of the workspace: if that fails, nothing
    has been taken from the state before, and the micro-batch can be done again.
    """
    changes = Commit(blobs, former)
    for number in store.written:
        changes.put_rows(number, store.workspace.get(number))
    for number in store.dropped:
        changes.remove(number)
    fingerprint = store.spec.fingerprint()
    token = changes.token(encode_directory(store.directory(""), fingerprint))
    changes.put(DIRECTORY, encode_directory(store.directory(token), fingerprint))
    store.written.clear()
    store.dropped.clear()
    return token, changes.written_bytes
