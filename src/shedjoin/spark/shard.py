"""One shard in a Spark worker: state in, step, state out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from shedjoin.core.arrivals import Blob, chain
from shedjoin.core.batches import PIECE_BYTES, grouped, pieces
from shedjoin.core.budgeted import persistence as budgeted
from shedjoin.core.budgeted.step import budgeted_step
from shedjoin.core.budgeted.store import BudgetedStore
from shedjoin.core.codec import Directory, encode_rows
from shedjoin.core.persistence import commit, restore, stored_directory
from shedjoin.core.spec import JoinSpec
from shedjoin.core.step import Outcome, step
from shedjoin.core.store import BEGINNING_MS, WindowStore
from shedjoin.core.workspace import MemoryWorkspace, Workspace
from shedjoin.spark.cache import NodeCache

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        MapState,
        StatefulProcessorHandle,
    )


class MapStateBlobs:
    """Numbered blobs of one shard in Spark's state store."""

    def __init__(self, state: MapState) -> None:
        self._state = state

    def get(self, number: int) -> bytes | None:
        """Give a blob, or None."""
        stored = self._state.getValue((number,))
        return None if stored is None else stored[0]

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob."""
        self._state.updateValue((number,), (blob,))

    def remove(self, number: int) -> None:
        """Forget a blob."""
        self._state.removeKey((number,))


class _Before(NamedTuple):
    """The state that a micro-batch starts from."""

    token: str
    watermark_ms: int
    held: bool
    state: Directory | dict[str, Any] | None


AnyStore = WindowStore | BudgetedStore


class SparkShard:
    """Runs the step of one shard against Spark's state store.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    number : int
        The shard, from 0.
    state : MapState
        Its blobs.
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
        self._number = number
        self._blobs = MapStateBlobs(state)
        self._handle = handle
        self._cache = NodeCache(spec.fingerprint(), number)

    def run_once(self, arrived: Sequence[Blob]) -> Outcome:
        """Join all rows there are; nothing is kept."""
        if self._spec.shedding is not None:
            store = budgeted.open_store(
                self._blobs, None, self._spec, self._number, MemoryWorkspace()
            )
            store.watermark_ms = BEGINNING_MS
            return budgeted_step(store, arrived, BEGINNING_MS)
        exact = WindowStore(self._spec, MemoryWorkspace())
        exact.watermark_ms = BEGINNING_MS
        return step(exact, arrived, BEGINNING_MS)

    def run(self, arrived: Sequence[Blob], watermark_ms: int) -> Outcome:
        """Join one micro-batch and write what it changed."""
        before = self._before()
        token = chain(before.token, arrived, watermark_ms)
        try:
            store, restored = self._open(before)
            outcome = self._step(store, arrived, watermark_ms)
            self._cache.publish(token)
        except OSError:  # no room on the local disk
            self._cache.discard()
            store, restored = self._restored(before, MemoryWorkspace()), True
            outcome = self._step(store, arrived, watermark_ms)
        if isinstance(store, BudgetedStore):
            written = budgeted.commit(store, self._blobs, token)
        else:
            written = commit(store, self._blobs, token)
        self._set_timer(before, store.watermark_ms)
        report = outcome.report.with_written(written, restored=restored)
        return outcome._replace(report=report)

    def _before(self) -> _Before:
        if self._spec.shedding is None:
            directory = stored_directory(self._blobs, self._spec)
            held = bool(directory.segments)
            return _Before(directory.token, directory.watermark_ms, held, directory)
        facts = budgeted.stored_facts(self._blobs, self._spec)
        if facts is None:
            return _Before("", 0, held=False, state=None)
        held = bool(facts["segments"])
        return _Before(facts["token"], facts["watermark_ms"], held, facts)

    def _open(self, before: _Before) -> tuple[AnyStore, bool]:
        workspace = self._cache.take(before.token) if before.token else None
        if workspace is None:
            return self._restored(before, self._cache.fresh()), before.held
        if isinstance(before.state, Directory):
            found = WindowStore(self._spec, workspace, before.state, opened=True)
            return found, False
        store = budgeted.open_store(
            self._blobs, before.state, self._spec, self._number, workspace, opened=True
        )
        return store, False

    def _restored(self, before: _Before, workspace: Workspace) -> AnyStore:
        if isinstance(before.state, Directory):
            return restore(self._blobs, before.state, self._spec, workspace)
        return budgeted.open_store(
            self._blobs, before.state, self._spec, self._number, workspace
        )

    @staticmethod
    def _step(store: AnyStore, arrived: Sequence[Blob], watermark_ms: int) -> Outcome:
        if isinstance(store, BudgetedStore):
            return budgeted_step(store, arrived, watermark_ms)
        return step(store, arrived, watermark_ms)

    def _set_timer(self, before: _Before, watermark_ms: int) -> None:
        """Wake this shard when the watermark moves, rows or not.

        It must then let go of what expires, and it must know the watermark of every
        micro-batch to judge late rows in the next one.
        """
        if not before.token:
            self._handle.registerTimer(watermark_ms + 1)
        elif watermark_ms > before.watermark_ms:
            self._handle.deleteTimer(before.watermark_ms + 1)
            self._handle.registerTimer(watermark_ms + 1)


def result_blobs(batches: list[pa.RecordBatch]) -> Iterator[bytes]:
    """Joined rows as blobs of bounded size."""
    cut = (piece for batch in batches for piece in pieces(batch, PIECE_BYTES))
    for group in grouped(cut, PIECE_BYTES):
        yield encode_rows(group, group[0].schema).to_pybytes()
