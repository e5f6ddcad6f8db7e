"""Where a shard keeps its decoded state while it works.

A workspace holds the arrays of the index and the payload of the segments. It is plain
memory, or memory-mapped files of the node. In both cases, it is only a copy: the engine
keeps the state itself in its state store.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from shedjoin.columns.ipc import decode_batch, write_rows
from shedjoin.types import IntArray


class WorkspaceError(Exception):
    """Local files could not be written or read; the state store is not affected."""


class Workspace(Protocol):
    """Named arrays and numbered record batches."""

    def new_array(self, name: str, size: int) -> IntArray:
        """Make a writable array of zeros, replacing any older one of that name."""

    def array(self, name: str) -> IntArray:
        """Return an array that was made before."""

    def drop_array(self, name: str) -> None:
        """Remove an array."""

    def put(self, number: int, rows: pa.RecordBatch) -> None:
        """Keep a record batch."""

    def get(self, number: int) -> pa.RecordBatch:
        """Return a record batch that was kept before."""

    def drop(self, number: int) -> None:
        """Remove a record batch."""


class MemoryWorkspace:
    """A workspace in the memory of this process."""

    def __init__(self) -> None:
        self._arrays: dict[str, IntArray] = {}
        self._rows: dict[int, pa.RecordBatch] = {}

    def new_array(self, name: str, size: int) -> IntArray:
        """Make an array of zeros."""
        self._arrays[name] = np.zeros(size, np.int64)
        return self._arrays[name]

    def array(self, name: str) -> IntArray:
        """Return an array that was made before."""
        return self._arrays[name]

    def drop_array(self, name: str) -> None:
        """Remove an array."""
        self._arrays.pop(name, None)

    def put(self, number: int, rows: pa.RecordBatch) -> None:
        """Keep a record batch."""
        self._rows[number] = rows

    def get(self, number: int) -> pa.RecordBatch:
        """Return a record batch that was kept before."""
        return self._rows[number]

    def drop(self, number: int) -> None:
        """Remove a record batch."""
        self._rows.pop(number, None)


class MappedWorkspace:
    """A workspace in memory-mapped files of one folder.

    Segments are read only when a match needs their payload. So a micro-batch reads what
    it uses and not the whole window. The batches given to :meth:`put` are also mapped
    from files, so that the system can reclaim their memory.

    Raises :class:`WorkspaceError` for every error of the files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[int, pa.RecordBatch] = {}
        with _local_files():
            folder.mkdir(parents=True, exist_ok=True)

    def new_array(self, name: str, size: int) -> IntArray:
        """Make an array of zeros in a file of its own."""
        path = self.folder / f"{name}.int64"
        with _local_files():
            path.unlink(missing_ok=True)  # mappings of the old file stay valid
            with path.open("xb") as file:
                file.truncate(8 * size)
                if hasattr(os, "posix_fallocate"):  # fail now if the disk is full
                    os.posix_fallocate(file.fileno(), 0, 8 * size)
        return self.array(name)

    def array(self, name: str) -> IntArray:
        """Map an array that was made before."""
        path = self.folder / f"{name}.int64"
        with _local_files(), path.open("r+b") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0), np.int64)

    def drop_array(self, name: str) -> None:
        """Delete the file of an array; a mapping of it stays valid."""
        with _local_files():
            (self.folder / f"{name}.int64").unlink(missing_ok=True)

    def put(self, number: int, rows: pa.RecordBatch) -> None:
        """Write a record batch as an Arrow stream."""
        self._open.pop(number, None)
        path = self._segment(number)
        with _local_files():
            path.unlink(missing_ok=True)
            with pa.OSFile(str(path), "wb") as file:
                write_rows(file, rows)

    def get(self, number: int) -> pa.RecordBatch:
        """Map a record batch that was kept before."""
        if number not in self._open:
            with _local_files(), pa.memory_map(str(self._segment(number))) as file:
                self._open[number] = decode_batch(file.read_buffer())
        return self._open[number]

    def drop(self, number: int) -> None:
        """Delete the file of a record batch."""
        self._open.pop(number, None)
        with _local_files():
            self._segment(number).unlink(missing_ok=True)

    def _segment(self, number: int) -> Path:
        return self.folder / f"{number}.arrow"


@contextmanager
def _local_files() -> Iterator[None]:
    """Turn errors with files of the node into :class:`WorkspaceError`."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException, StopIteration) as error:
        raise WorkspaceError(f"{type(error).__name__}: {error}") from error
