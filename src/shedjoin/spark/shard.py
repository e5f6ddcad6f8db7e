"""One shard in a Spark worker: it reads its state, joins, and writes its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from shedjoin.columns.arrivals import Blob
from shedjoin.control.record import Messages, Record
from shedjoin.control.steered import steered
from shedjoin.operators.choice import holds_nothing, kind_of, open_join
from shedjoin.operators.frame.join import (
    BEGINNING_MS,
    END_MS,
    Join,
    Opening,
    Running,
    Step,
    as_step,
    commit,
    pass_time,
    stored_directory,
)
from shedjoin.spark.copies import NodeCopies, Owner
from shedjoin.spark.disk import CopySettings, log
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import Blobs
from shedjoin.state.directory import Directory
from shedjoin.state.workspace import MemoryWorkspace, Workspace, WorkspaceError

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from shedjoin.operators.star.fixed import FixedRelation


class SparkShard:
    """Runs the step of one shard, whose state is in Spark's state store.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    owner : Owner
        The shard, the join and the query.
    blobs : Blobs
        The stored state of the shard.
    handle : StatefulProcessorHandle
        Sets the timer of the shard.
    settings : CopySettings
        Settings of the copies on this node.
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
        self.record = Record({})
        self.relation: FixedRelation | None = None
        self._number = owner.shard
        self._blobs = blobs
        self._handle = handle
        self._owner = owner
        self._settings = settings

    def run_once(self, arrived: Sequence[Blob]) -> Step:
        """Join all rows of a batch query; no state is kept."""
        join = self._restored(None, MemoryWorkspace())
        join.store.watermark_ms = BEGINNING_MS
        # At the end of a batch query, all rows that waited for a partner have none.
        ends = any(self._spec.preserves)
        return join.step(arrived, END_MS if ends else BEGINNING_MS)

    @as_step
    def run(
        self,
        arrived: Sequence[Blob],
        watermark_ms: int,
        *,
        woken: bool = False,
        messages: Messages | None = None,
    ) -> Running:
        """Join one micro-batch, write what it changed, and set the next timer.

        ``woken`` is True if the timer of the shard makes the call. Spark then deletes
        this timer itself. ``messages`` is None in a join without a control folder.
        """
        before = stored_directory(self._blobs, self._spec)
        if messages is not None:
            self._steer(before, messages)
        if before is not None and not arrived and holds_nothing(before, self._spec):
            report = self._pass_time(before, watermark_ms)
        else:
            step = self._join(before, arrived, watermark_ms)
            yield from step
            report = step.report
        self._set_timer(before, watermark_ms, woken=woken)
        return report

    def _steer(self, before: Directory | None, messages: Messages) -> None:
        """Apply the settings of all messages, including those of this micro-batch.

        The settings hold for the whole micro-batch. They are stored with the state that
        the micro-batch changes.
        """
        started = self._spec
        record = Record.of({} if before is None else before.control)
        self.record = record.after(messages.sent, started, messages.micro_batch)
        self._spec = steered(started, self.record.in_force)

    @as_step
    def _join(
        self, before: Directory | None, arrived: Sequence[Blob], watermark_ms: int
    ) -> Running:
        """Join a micro-batch on this node's copy of the state, or on a new copy.

        Joined rows are emitted as they are found, long before the state is written. If
        the task fails, Spark keeps neither these rows nor the state. If a file of this
        node cannot be read or written, the micro-batch is repeated in memory. Batches
        that were emitted before are then skipped. This is possible because a step gives
        the same batches every time.
        """
        former = "" if before is None else before.token
        given = 0
        copies: NodeCopies | None = None
        try:
            copies = NodeCopies(self._owner, self._settings)
            join, hit = self._open(before, copies)
            step = join.step(arrived, watermark_ms)
            for batch in step:
                given += 1
                yield batch
            token, written = commit(join, self._blobs, former, self.record.facts())
            copies.publish(token)
            failed = False
        except WorkspaceError as error:
            log.warning(
                "Shard %d does without a copy of its state on this node: %s",
                self._number,
                str(error),  # a log that keeps the error itself would keep files open
            )
            if copies is not None:
                copies.discard()
            hit, failed = False, True
            join = self._restored(before, MemoryWorkspace())
            step = join.step(arrived, watermark_ms)
            if sum(1 for _ in islice(step, given)) < given:
                raise RuntimeError(
                    f"the second attempt at a micro-batch has fewer than {given} "
                    "batches of results, which the first attempt has sent already."
                ) from None
            yield from step
            token, written = commit(join, self._blobs, former, self.record.facts())
        return replace(
            step.report,
            written_bytes=written,
            copy_hits=int(hit),
            copy_misses=int(before is not None and bool(before.segments) and not hit),
            copy_fallbacks=int(failed),
        )

    def _pass_time(self, before: Directory, watermark_ms: int) -> Report:
        """Store the watermark in a shard without residents and without arrivals.

        Only the first shard reports the watermark, because a report takes as long as
        all other work of such a shard.
        """
        written = pass_time(
            before, self._spec, self._blobs, watermark_ms, self.record.facts()
        )
        if self._number > 0:
            return Report()
        watermark_ms = max(before.watermark_ms, watermark_ms)
        return Report(written_bytes=written, watermark_ms=watermark_ms)

    def _open(self, before: Directory | None, copies: NodeCopies) -> tuple[Join, bool]:
        workspace = None
        if before is not None and before.kind == kind_of(self._spec):
            workspace = copies.take(before.token)
        if workspace is None:
            return self._restored(before, copies.fresh()), False
        return open_join(self._opening(before, workspace)._replace(opened=True)), True

    def _restored(self, before: Directory | None, workspace: Workspace) -> Join:
        return open_join(self._opening(before, workspace))

    def _opening(self, before: Directory | None, workspace: Workspace) -> Opening:
        seed = bucket_seed(self._owner.query, self._number)
        opening = Opening(
            self._spec, self._number, self._blobs, before, workspace, seed
        )
        return opening._replace(relation=self.relation)

    def _set_timer(
        self, before: Directory | None, watermark_ms: int, *, woken: bool
    ) -> None:
        """Set a timer to call this shard when the watermark moves, even without rows.

        The shard must then drop the rows that expire. It must also know the watermark
        of every micro-batch, to find the late rows of the next micro-batch.
        """
        if before is None:
            self._handle.registerTimer(max(0, watermark_ms) + 1)
        elif watermark_ms > before.watermark_ms:
            if not woken:
                self._handle.deleteTimer(before.watermark_ms + 1)
            self._handle.registerTimer(watermark_ms + 1)


def bucket_seed(query: str, shard: int) -> int:
    """Seed of the hash buckets of a new state.

    Senders of rows do not know it, so they cannot choose keys that share a bucket.
    """
    digest = sha256(f"{query} {shard}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
