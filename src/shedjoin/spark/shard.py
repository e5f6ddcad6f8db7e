"""One shard in a Spark worker: state in, step, state out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from shedjoin.core.arrivals import Blob, chain
from shedjoin.core.codec import (
    Directory,
    decode_directory,
    decode_segment,
    encode_directory,
    encode_rows,
)
from shedjoin.core.spec import JoinSpec
from shedjoin.core.step import Outcome, step
from shedjoin.core.store import BEGINNING_MS, EMPTY, WindowStore
from shedjoin.core.workspace import MemoryWorkspace, Workspace
from shedjoin.errors import StateMismatchError
from shedjoin.spark.cache import NodeCache

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        MapState,
        StatefulProcessorHandle,
    )

DIRECTORY = -1
"""The number under which the directory is stored; segments count from zero."""

RESULT_BYTES = 16 << 20


class SparkShard:
    """Runs the step of one shard against Spark's state store.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    number : int
        The shard.
    state : MapState
        Numbered blobs: the directory and the segments.
    handle : StatefulProcessorHandle
        Sets the timer.
    """

    def __init__(
        self,
        spec: JoinSpec,
        number: int,
        state: MapState,
        handle: StatefulProcessorHandle,
    ) -> None:
        self._spec = spec
        self._fingerprint = spec.fingerprint()
        self._state = state
        self._handle = handle
        self._cache = NodeCache(self._fingerprint, number)

    def run_once(self, blobs: Sequence[Blob]) -> Outcome:
        """Join all rows there are; nothing is kept."""
        store = WindowStore(self._spec, MemoryWorkspace())
        store.watermark_ms = BEGINNING_MS
        return step(store, blobs, BEGINNING_MS)

    def run(self, blobs: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch and write what it changed."""
        directory = self._stored_directory()
        token = chain(directory.token, blobs, watermark_ms)
        try:
            store, restored = self._open(directory)
            outcome = step(store, blobs, watermark_ms)
            self._cache.publish(token)
        except OSError:  # no room on the local disk
            self._cache.discard()
            store, restored = self._restored(MemoryWorkspace(), directory), True
            outcome = step(store, blobs, watermark_ms)
        written = self._write(store, token)
        self._set_timer(directory.watermark_ms, store.watermark_ms, directory.token)
        report = outcome.report.with_written(written, restored=restored)
        return outcome._replace(report=report)

    def _stored_directory(self) -> Directory:
        stored = self._state.getValue((DIRECTORY,))
        if stored is None:
            return EMPTY
        return decode_directory(stored[0], self._fingerprint)

    def _open(self, directory: Directory) -> tuple[WindowStore, bool]:
        if directory.token:
            workspace = self._cache.take(directory.token)
            if workspace is not None:
                return WindowStore(self._spec, workspace, directory, opened=True), False
        restored = self._restored(self._cache.fresh(), directory)
        return restored, bool(directory.segments)

    def _restored(self, workspace: Workspace, directory: Directory) -> WindowStore:
        store = WindowStore(self._spec, workspace, directory)
        store.restore(self._stored_rows, directory)
        return store

    def _stored_rows(self, number: int) -> pa.RecordBatch:
        stored = self._state.getValue((number,))
        if stored is None:
            raise StateMismatchError(
                f"the checkpoint names segment {number} of a shard but lacks it.",
                fix="restore the checkpoint from a backup, or start with a new one.",
            )
        return decode_segment(stored[0])

    def _write(self, store: WindowStore, token: str) -> int:
        for number in store.dropped:
            self._state.removeKey((number,))
        encoded = {
            number: encode_rows([rows], rows.schema, stored=True).to_pybytes()
            for number, rows in store.written.items()
        }
        directory = store.directory(token)
        encoded[DIRECTORY] = encode_directory(directory, self._fingerprint)
        for number, blob in encoded.items():
            self._state.updateValue((number,), (blob,))
        return sum(map(len, encoded.values()))

    def _set_timer(self, before_ms: int, now_ms: int, token: str) -> None:
        """Wake this shard when the watermark moves, rows or not.

        It must then let go of what expires, and it must know the watermark of every
        micro-batch to judge late rows in the next one.
        """
        if token and before_ms == now_ms:
            return
        if token:
            self._handle.deleteTimer(before_ms + 1)
        self._handle.registerTimer(now_ms + 1)


def result_blobs(batches: list[pa.RecordBatch]) -> Iterator[bytes]:
    """Joined rows as blobs of bounded size."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        pending.append(batch)
        size += batch.nbytes
        if size >= RESULT_BYTES:
            yield encode_rows(pending, batch.schema).to_pybytes()
            pending, size = [], 0
    if pending:
        yield encode_rows(pending, pending[0].schema).to_pybytes()
