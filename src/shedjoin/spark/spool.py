"""Arrivals of a shard before they are joined: a large micro-batch waits on disk."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from io import RawIOBase

import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.spark.disk import log, writable_roots

HELD_BYTES = 32 << 20
"""Most bytes of the blobs of one shard in memory; the other blobs go to a file."""


class Spool:
    """The blobs of one shard and micro-batch.

    Blobs are sorted before they are joined, so all of them must have come before the
    first is joined. The file has no name, so it disappears with the process.
    """

    def __init__(self) -> None:
        self._held: list[Blob] = []
        self._held_bytes = 0
        self._filed: list[tuple[int, bytes, int, int]] = []
        self._file: RawIOBase | None = None
        self._end = 0
        self._failed = False

    @staticmethod
    def of(blobs: Iterable[Blob]) -> Spool:
        """A spool with these blobs."""
        spool = Spool()
        for blob in blobs:
            spool.add(blob)
        return spool

    def add(self, blob: Blob) -> None:
        """Add a blob."""
        size = len(blob.payload)
        large = self._held_bytes + size > HELD_BYTES
        if large and not self._failed and self._write(blob):
            return
        self._held.append(blob)
        self._held_bytes += size

    def blobs(self) -> list[Blob]:
        """All blobs; those in the file are memory-mapped."""
        if self._file is None or not self._filed:
            return self._held
        mapped = mmap.mmap(self._file.fileno(), self._end, access=mmap.ACCESS_READ)
        whole = pa.py_buffer(mapped)
        return self._held + [
            Blob(stream, digest, whole.slice(start, size))
            for stream, digest, start, size in self._filed
        ]

    def _write(self, blob: Blob) -> bool:
        try:
            if self._file is None:
                self._file = _new_file()
            rest = memoryview(blob.payload)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            log.warning("The rest of a micro-batch is held in memory: %s", error)
            self._failed = True
            return False
        size = len(blob.payload)
        self._filed.append((blob.stream, blob.digest, self._end, size))
        self._end += size
        return True


def _new_file() -> RawIOBase:
    """A file without a name in the first local folder that can be written."""
    for root in writable_roots():
        with suppress(OSError):
            return tempfile.TemporaryFile(dir=root, buffering=0)
    raise OSError("none of Spark's local folders can be written")
