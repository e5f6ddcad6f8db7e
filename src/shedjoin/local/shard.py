"""One shard of a local run, with its state as an engine would store it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shedjoin.columns.arrivals import Blob
from shedjoin.control.record import Messages, Record
from shedjoin.control.steered import steered
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame.join import (
    Join,
    Opening,
    Outcome,
    commit,
    stored_directory,
)
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.workspace import MemoryWorkspace


class MemoryBlobs:
    """Numbered blobs in a dictionary."""

    def __init__(self) -> None:
        self._blobs: dict[int, bytes] = {}

    def get(self, number: int) -> bytes | None:
        """Give a blob, or None if it is not stored."""
        return self._blobs.get(number)

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob."""
        self._blobs[number] = blob

    def remove(self, number: int) -> None:
        """Remove a blob."""
        del self._blobs[number]

    def items(self) -> Iterable[tuple[int, bytes]]:
        """All blobs with their numbers."""
        return self._blobs.items()

    def digest(self) -> bytes:
        """Digest of all blobs together."""
        state = hashlib.sha256()
        for number, blob in sorted(self._blobs.items()):
            state.update(number.to_bytes(8, "big", signed=True) + blob)
        return state.digest()


class LocalShard:
    """Runs the steps of one shard, and keeps the bytes that an engine would store."""

    def __init__(self, spec: JoinSpec, number: int, bucket_seed: int = 0) -> None:
        self._started = self._spec = spec
        self._number = number
        self._bucket_seed = bucket_seed
        self.blobs = MemoryBlobs()
        self.record = Record({})
        self._token, self.join = self._open()

    def run(
        self, blobs: Sequence[Blob], watermark_ms: int, *, collect: bool = True
    ) -> Outcome:
        """Join one micro-batch; without ``collect`` its results are dropped."""
        step = self.join.step(blobs, watermark_ms)
        outcome = Outcome.of(step, collect=collect)
        self._token, written = commit(
            self.join, self.blobs, self._token, self.record.facts()
        )
        return outcome._replace(report=replace(outcome.report, written_bytes=written))

    def steer(self, messages: Messages) -> None:
        """Apply control messages, from the coming micro-batch on."""
        self.record = self.record.after(
            messages.sent, self._started, messages.micro_batch
        )
        spec = steered(self._started, self.record.in_force)
        if spec != self._spec:
            self._spec = spec
            self._token, self.join = self._open()

    def restart(self) -> None:
        """Drop everything but the stored bytes, and restart from them."""
        directory = stored_directory(self.blobs, self._started)
        self.record = Record.of({} if directory is None else directory.control)
        self._spec = steered(self._started, self.record.in_force)
        self._token, self.join = self._open()

    def _open(self) -> tuple[str, Join]:
        directory = stored_directory(self.blobs, self._spec)
        opening = Opening(
            self._spec,
            self._number,
            self.blobs,
            directory,
            MemoryWorkspace(),
            self._bucket_seed,
        )
        return "" if directory is None else directory.token, open_join(opening)
