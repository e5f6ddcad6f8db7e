"""Node-local copies of decoded state.

Spark may give any shard to any Python worker of a node, so a copy belongs to the node.
It is a folder of memory-mapped files, named by the *token* of the state that it holds.
A token is a hash over the token before it and all that the commit wrote or removed. So
if the name of a folder is the token in the state store, the folder holds the present
state, whichever worker has written it. A worker takes a folder by renaming it, which
only one worker can do. The worker changes the files and writes the new state to the
state store. Then it renames the folder to the new token. If a task is repeated, it
finds no folder under the old token, and reads the state from the state store.

The folder's path also has the query, the join within it, the fingerprint of the join,
the shard, the format of the state and the version of this package. The path changes
when the machine is started again, because a crash of the system may leave incomplete
files. A manifest shows whether another process has changed a file. Copies are in
Spark's own local folders of the executor, which Spark deletes.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from shedjoin.spark.disk import (
    CopySettings,
    local_roots,
    log,
    remove_copy,
    sweep,
    system_boot,
    work_name,
    writable_roots,
)
from shedjoin.state.directory import FORMAT
from shedjoin.state.workspace import MappedWorkspace, WorkspaceError
from shedjoin.version import VERSION

_MANIFEST = "manifest.json"


class Owner(NamedTuple):
    """The shard that a state belongs to, with its join and its query."""

    query: str
    join: str
    fingerprint: str
    shard: int


class NodeCopies:
    """Copies of one shard's state on this node.

    Parameters
    ----------
    owner : Owner
        The shard.
    settings : CopySettings
        Whether copies are kept, how many bytes they may take, and for how long.
    """

    def __init__(self, owner: Owner, settings: CopySettings) -> None:
        self._settings = settings
        self.root = _root(owner.shard)
        join = sha256(owner.join.encode()).hexdigest()[:8]
        self._home = (
            self.root
            / f"{system_boot()}-{FORMAT}-{VERSION}"
            / owner.query
            / f"{join}-{owner.fingerprint}-{owner.shard}"
        )
        self._work = self._home / work_name()

    def take(self, token: str) -> MappedWorkspace | None:
        """Take the copy of a state; None if this node has no complete copy of it."""
        try:
            (self._home / token).rename(self._work)
        except OSError:
            return None
        if _is_whole(self._work):
            return MappedWorkspace(self._work)
        log.warning("The copy of state in %s was changed; not used.", self._home)
        self.discard()
        return None

    def fresh(self) -> MappedWorkspace:
        """Make an empty workspace for a state that has no copy here.

        Files that an earlier attempt of this task left there are removed.
        """
        self.discard()
        return MappedWorkspace(self._work)

    def publish(self, token: str) -> None:
        """Offer the workspace in use to other tasks, as the copy of a newer state."""
        if not self._settings.enabled:
            self.discard()
            return
        try:
            (self._work / _MANIFEST).write_text(json.dumps(_marks(self._work)))
            self._drop_others()
            self._work.rename(self._home / token)
        except OSError as error:  # for example, another attempt has published it
            log.info("No copy of the state is kept: %s", error)
            self.discard()
        sweep(self.root, self._settings)

    def discard(self) -> None:
        """Remove the workspace in use."""
        remove_copy(self._work)

    def _drop_others(self) -> None:
        """Remove copies of older states of this shard."""
        for other in self._home.iterdir():
            if not other.name.startswith("work-"):
                remove_copy(other)


def _root(shard: int) -> Path:
    """Folder for a shard. Shards are spread over all folders that can be written."""
    root = next(writable_roots(shard), None)
    if root is None:
        tried = ", ".join(map(str, local_roots()))
        raise WorkspaceError(f"none of {tried} can be written")
    return root


def _marks(folder: Path) -> dict[str, list[int]]:
    """Size and time of all files, which show whether a file was changed."""
    with os.scandir(folder) as files:
        status = {file.name: file.stat() for file in files if file.name != _MANIFEST}
    return {name: [of.st_size, of.st_mtime_ns] for name, of in status.items()}


def _is_whole(folder: Path) -> bool:
    try:
        known = json.loads((folder / _MANIFEST).read_text())
        (folder / _MANIFEST).unlink()
        return bool(known == _marks(folder))
    except (OSError, ValueError):
        return False
