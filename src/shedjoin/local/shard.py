"""One shard of a local run, with the stored form of its state beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from shedjoin.core.arrivals import Blob, chain
from shedjoin.core.codec import (
    decode_directory,
    decode_segment,
    encode_directory,
    encode_rows,
)
from shedjoin.core.spec import JoinSpec
from shedjoin.core.step import Outcome, step
from shedjoin.core.store import EMPTY, WindowStore
from shedjoin.core.workspace import MemoryWorkspace


class LocalShard:
    """Runs the step of one shard and keeps what an engine would store."""

    def __init__(self, spec: JoinSpec) -> None:
        self._spec = spec
        self._fingerprint = spec.fingerprint()
        self._token = ""
        self._segments: dict[int, bytes] = {}
        self._directory = encode_directory(EMPTY, self._fingerprint)
        self._store = WindowStore(spec, MemoryWorkspace())

    def run(self, blobs: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch."""
        store = self._store
        outcome = step(store, blobs, watermark_ms)
        for number in store.dropped:
            del self._segments[number]
        for number, rows in store.written.items():
            encoded = encode_rows([rows], rows.schema, stored=True)
            self._segments[number] = encoded.to_pybytes()
        written = sum(len(self._segments[number]) for number in store.written)
        store.dropped.clear()
        store.written.clear()
        self._token = chain(self._token, blobs, watermark_ms)
        directory = store.directory(self._token)
        self._directory = encode_directory(directory, self._fingerprint)
        written += len(self._directory)
        return outcome._replace(report=outcome.report.with_written(written))

    def restart(self) -> None:
        """Forget everything but the stored bytes and start again from them."""
        directory = decode_directory(self._directory, self._fingerprint)
        self._store = WindowStore(self._spec, MemoryWorkspace(), directory)
        self._store.restore(lambda n: decode_segment(self._segments[n]), directory)

    def digest(self) -> bytes:
        """Identity of the stored bytes."""
        state = hashlib.sha256(self._directory)
        for number in sorted(self._segments):
            state.update(number.to_bytes(8, "big") + self._segments[number])
        return state.digest()
