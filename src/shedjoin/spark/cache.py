"""Node-local copies of decoded state.

Any Python worker of a node may be given any shard, so a copy belongs to the node: a
folder of memory-mapped files, named by the *token* of the state it holds. A token is a
hash over all blobs and watermarks that led to a state, so a folder named by the token
that the state store holds is that state, whoever left it there. A worker takes a
folder by renaming it, which only one can do, works in it and renames it to the token
of the new state. A failed or repeated task finds no folder under the old token and
restores from the state store. The copies lie in Spark's own local folder of the
executor, which Spark deletes. A full disk costs speed, not results: the shard then
works in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from shedjoin.core.workspace import MappedWorkspace
from shedjoin.spark.worker import local_property


class NodeCache:
    """Copies of one shard's state on this node.

    Parameters
    ----------
    fingerprint : str
        The join.
    shard : int
        The shard.
    """

    def __init__(self, fingerprint: str, shard: int) -> None:
        local = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
        self._root = Path(local or tempfile.gettempdir(), "shedjoin")
        query = local_property("sql.streaming.queryId") or "batch"
        self._home = self._root / query / f"{fingerprint}-{shard}"
        self._taken = self._home / f"taken-{os.getpid()}"

    def take(self, token: str) -> MappedWorkspace | None:
        """Take the copy of a state out of the cache, if this node has it."""
        shutil.rmtree(self._taken, ignore_errors=True)
        try:
            (self._home / token).rename(self._taken)
        except OSError:
            return None
        return MappedWorkspace(self._taken)

    def fresh(self) -> MappedWorkspace:
        """Make an empty workspace for a state that has no copy here."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(self._taken, ignore_errors=True)
        return MappedWorkspace(self._taken)

    def publish(self, token: str) -> None:
        """Offer the workspace taken or made before as the copy of a newer state."""
        for other in self._home.iterdir():
            if not _in_use(other):
                shutil.rmtree(other, ignore_errors=True)
        self._taken.rename(self._home / token)

    def discard(self) -> None:
        """Give up the workspace taken or made before."""
        shutil.rmtree(self._taken, ignore_errors=True)


def _in_use(folder: Path) -> bool:
    """Whether a worker that still runs, this one included, has taken the folder."""
    kind, _, process = folder.name.partition("-")
    if kind != "taken":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
