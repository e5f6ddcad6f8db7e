"""One shard of a local run, with the stored form of its state beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.budgeted import persistence as budgeted
from shedjoin.operators.budgeted.step import budgeted_step
from shedjoin.operators.exact.persistence import commit, restore, stored_directory
from shedjoin.operators.exact.step import step
from shedjoin.operators.exact.store import WindowStore
from shedjoin.operators.frame.step import Outcome
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.workspace import MemoryWorkspace


class MemoryBlobs:
    """Numbered blobs in a dictionary."""

    def __init__(self) -> None:
        self._blobs: dict[int, bytes] = {}

    def get(self, number: int) -> bytes | None:
        """Give a blob, or None."""
        return self._blobs.get(number)

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob."""
        self._blobs[number] = blob

    def remove(self, number: int) -> None:
        """Forget a blob."""
        del self._blobs[number]

    def items(self) -> Iterable[tuple[int, bytes]]:
        """All blobs with their numbers."""
        return self._blobs.items()

    def digest(self) -> bytes:
        """Identity of all blobs together."""
        state = hashlib.sha256()
        for number, blob in sorted(self._blobs.items()):
            state.update(number.to_bytes(8, "big", signed=True) + blob)
        return state.digest()


class LocalShard:
    """Runs the step of one shard and keeps what an engine would store."""

    def __init__(self, spec: JoinSpec, bucket_seed: int) -> None:
        self._spec = spec
        self._token = ""
        self.blobs = MemoryBlobs()
        self._store = WindowStore.empty(spec, MemoryWorkspace(), bucket_seed)

    def run(self, blobs: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch."""
        outcome = Outcome.of(step(self._store, blobs, watermark_ms))
        self._token, written = commit(self._store, self.blobs, self._token)
        return outcome._replace(report=replace(outcome.report, written_bytes=written))

    def restart(self) -> None:
        """Forget everything but the stored bytes and start again from them."""
        directory = stored_directory(self.blobs, self._spec)
        self._token = directory.token
        self._store = restore(self.blobs, directory, self._spec, MemoryWorkspace())


class BudgetedShard:
    """The same under a budget."""

    def __init__(self, spec: JoinSpec, number: int, bucket_seed: int) -> None:
        self._spec = spec
        self._number = number
        self._bucket_seed = bucket_seed
        self._token = ""
        self.blobs = MemoryBlobs()
        self.restart()

    def run(self, blobs: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch."""
        outcome = Outcome.of(budgeted_step(self.store, blobs, watermark_ms))
        self._token, written = budgeted.commit(self.store, self.blobs, self._token)
        return outcome._replace(report=replace(outcome.report, written_bytes=written))

    def restart(self) -> None:
        """Forget everything but the stored bytes and start again from them."""
        facts = budgeted.stored_facts(self.blobs, self._spec)
        self._token = "" if facts is None else facts["token"]
        self.store = budgeted.open_store(
            self.blobs,
            facts,
            self._spec,
            self._number,
            MemoryWorkspace(),
            seed=self._bucket_seed,
        )


def local_shard(
    spec: JoinSpec, number: int, bucket_seed: int = 0
) -> LocalShard | BudgetedShard:
    """Make the shard that a spec asks for."""
    if spec.shedding is None:
        return LocalShard(spec, bucket_seed)
    return BudgetedShard(spec, number, bucket_seed)
