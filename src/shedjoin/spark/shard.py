"""One shard in a Spark worker: state in, step, state out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.budgeted import persistence as budgeted
from shedjoin.operators.budgeted.step import budgeted_step
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.exact.persistence import commit, restore, stored_directory
from shedjoin.operators.exact.step import step
from shedjoin.operators.exact.store import BEGINNING_MS, WindowStore
from shedjoin.operators.frame.step import Step
from shedjoin.spark.copies import NodeCopies, Owner
from shedjoin.spark.disk import CopySettings, log
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.codec import Directory
from shedjoin.state.workspace import MemoryWorkspace, Workspace, WorkspaceError

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle


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
    owner : Owner
        The shard, the join and the query.
    blobs : Blobs
        Its stored state.
    handle : StatefulProcessorHandle
        Sets the timer.
    settings : CopySettings
        For the copies on this node.
    """

    def __init__(
        self,
        spec: JoinSpec,
        owner: Owner,
        blobs: Blobs,
        handle: StatefulProcessorHandle,
        settings: CopySettings,
    ) -> None:
        self._spec = spec
        self._number = owner.shard
        self._blobs = blobs
        self._handle = handle
        self._owner = owner
        self._settings = settings

    def run_once(self, arrived: Sequence[Blob]) -> Step:
        """Join all rows there are; nothing is kept."""
        before = _Before("", BEGINNING_MS, held=False, state=None)
        store = self._restored(before, MemoryWorkspace())
        store.watermark_ms = BEGINNING_MS
        return _step(store, arrived, BEGINNING_MS)

    def run(self, arrived: Sequence[Blob], watermark_ms: int) -> Step:
        """Join one micro-batch and write what it changed.

        Joined rows are given out as they are found, long before the state is written:
        the engine keeps neither if the task fails. Where the files of this node fail,
        the micro-batch is done again in memory, and what was given out is passed over:
        a step gives the same batches every time.
        """
        before = self._before()
        given = 0
        copies: NodeCopies | None = None
        try:
            copies = NodeCopies(self._owner, self._settings)
            store, hit = self._open(before, copies)
            joined = _step(store, arrived, watermark_ms)
            while True:
                try:
                    batch = next(joined)
                except StopIteration as end:
                    report: Report = end.value
                    break
                given += 1
                yield batch
            token, written = self._commit(store, before)
            copies.publish(token)
            failed = False
        except WorkspaceError as error:
            log.warning(
                "Shard %d does without a copy of its state on this node: %s",
                self._number,
                str(error),  # who keeps the text need not keep the files open
            )
            if copies is not None:
                copies.discard()
            hit, failed = False, True
            store = self._restored(before, MemoryWorkspace())
            report = yield from _after(given, _step(store, arrived, watermark_ms))
            token, written = self._commit(store, before)
        self._set_timer(before, store.watermark_ms)
        return replace(
            report,
            written_bytes=written,
            copy_hits=int(hit),
            copy_misses=int(before.held and not hit),
            copy_fallbacks=int(failed),
        )

    def _before(self) -> _Before:
        if self._spec.shedding is None:
            directory = stored_directory(self._blobs, self._spec)
            held = bool(directory.segments)
            state = directory if directory.token else None
            return _Before(directory.token, directory.watermark_ms, held, state)
        facts = budgeted.stored_facts(self._blobs, self._spec)
        if facts is None:
            return _Before("", 0, held=False, state=None)
        held = bool(facts["segments"])
        return _Before(facts["token"], facts["watermark_ms"], held, facts)

    def _open(self, before: _Before, copies: NodeCopies) -> tuple[AnyStore, bool]:
        workspace = copies.take(before.token) if before.token else None
        if workspace is None:
            return self._restored(before, copies.fresh()), False
        if isinstance(before.state, Directory):
            found = WindowStore(self._spec, workspace, before.state, opened=True)
            return found, True
        store = budgeted.open_store(
            self._blobs, before.state, self._spec, self._number, workspace, opened=True
        )
        return store, True

    def _restored(self, before: _Before, workspace: Workspace) -> AnyStore:
        seed = bucket_seed(self._owner.query, self._number)
        if self._spec.shedding is not None:
            facts = None if isinstance(before.state, Directory) else before.state
            return budgeted.open_store(
                self._blobs,
                facts,
                self._spec,
                self._number,
                workspace,
                seed=seed,
            )
        if isinstance(before.state, Directory):
            return restore(self._blobs, before.state, self._spec, workspace)
        return WindowStore.empty(self._spec, workspace, seed)

    def _commit(self, store: AnyStore, before: _Before) -> tuple[str, int]:
        if isinstance(store, BudgetedStore):
            return budgeted.commit(store, self._blobs, before.token)
        return commit(store, self._blobs, before.token)

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


def bucket_seed(query: str, shard: int) -> int:
    """Seed of the buckets of a state that begins: clients do not know the query."""
    digest = sha256(f"{query} {shard}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _step(store: AnyStore, arrived: Sequence[Blob], watermark_ms: int) -> Step:
    if isinstance(store, BudgetedStore):
        return budgeted_step(store, arrived, watermark_ms)
    return step(store, arrived, watermark_ms)


def _after(given: int, joined: Step) -> Step:
    """Pass over batches that were given out before."""
    for _ in range(given):
        next(joined)
    return (yield from joined)
