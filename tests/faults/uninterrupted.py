"""Joins that nothing interrupts: what they are given, give and store.

They run in plain memory, on the shard of the local runner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.control.record import Messages, Sent
from shedjoin.local import runner
from shedjoin.local.run import Run
from shedjoin.local.shard import LocalShard
from shedjoin.operators.choice import holds_nothing, open_join
from shedjoin.operators.frame.join import (
    Join,
    Opening,
    Outcome,
    pass_time,
    stored_directory,
)
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.spark.shard import bucket_seed
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.directory import Directory
from shedjoin.state.workspace import MemoryWorkspace

from .attempt import OF_COPIES, QUERY, SHARD


class MicroBatch(NamedTuple):
    """One micro-batch of an uninterrupted run.

    Attributes
    ----------
    arrivals, messages, watermark_ms
        What the shard is given.
    results, counts
        Joined rows, and the counts that do not depend on copies of the state.
    state, record
        The blobs that are stored at its end, and the record of control messages.
    """

    arrivals: list[Blob]
    messages: list[Sent]
    watermark_ms: int
    results: list[pa.RecordBatch]
    counts: dict[str, float]
    state: dict[int, bytes]
    record: dict[str, Any]


class NotedShard(LocalShard):
    """A shard that notes its micro-batches.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    relation : FixedRelation, optional
        The relation rows of a join through a table, which are no part of the state.
    """

    def __init__(self, spec: JoinSpec, relation: FixedRelation | None = None) -> None:
        self._relation = relation
        self._sent: list[Sent] = []
        self.batches: list[MicroBatch] = []
        super().__init__(spec, SHARD, bucket_seed(QUERY, SHARD))

    @property
    def spec(self) -> JoinSpec:
        """The join as its query was started last."""
        return self._started

    def run(
        self, blobs: Sequence[Blob], watermark_ms: int, *, collect: bool = True
    ) -> Outcome:
        """Join one micro-batch and note it."""
        directory = stored_directory(self.blobs, self._spec)
        if directory and not blobs and holds_nothing(directory, self._spec):
            outcome = self._pass_time(directory, watermark_ms)
        else:
            outcome = super().run(blobs, watermark_ms, collect=collect)
        batch = MicroBatch(
            arrivals=list(blobs),
            messages=self._sent,
            watermark_ms=watermark_ms,
            results=outcome.results,
            counts=without_copies(outcome.report.counts(self.spec.names)),
            state=dict(self.blobs.items()),
            record=self.record.facts(),
        )
        self.batches.append(batch)
        self._sent = []
        return outcome

    def steer(self, messages: Messages) -> None:
        """Apply control messages and note them with the coming micro-batch."""
        self._sent = list(messages.sent)
        super().steer(messages)

    def start_again(self, spec: JoinSpec) -> None:
        """Start the query again, with another budget or policy."""
        self._started = spec
        self.restart()

    def _pass_time(self, directory: Directory, watermark_ms: int) -> Outcome:
        """Note the watermark only, as a shard on Spark does if it holds nothing."""
        facts = self.record.facts()
        written = pass_time(directory, self._spec, self.blobs, watermark_ms, facts)
        self._token, self.join = self._open()
        watermark_ms = max(directory.watermark_ms, watermark_ms)
        return Outcome([], Report(written_bytes=written, watermark_ms=watermark_ms))

    def _open(self) -> tuple[str, Join]:
        directory = stored_directory(self.blobs, self._spec)
        opening = Opening(
            self._spec,
            self._number,
            self.blobs,
            directory,
            MemoryWorkspace(),
            self._bucket_seed,
            relation=self._relation,
        )
        return "" if directory is None else directory.token, open_join(opening)


def noted(call: Callable[[], Run]) -> NotedShard:
    """Run a join of the local runner; return its only shard."""
    shards: list[NotedShard] = []

    def noting(spec: JoinSpec, number: int, bucket_seed: int) -> NotedShard:
        assert (number, bucket_seed) == (0, 0), "one shard, with the seed of the query"
        shards.append(NotedShard(spec))
        return shards[-1]

    with patch.object(runner, "LocalShard", noting):
        call()
    (shard,) = shards
    return shard


def without_copies(counts: dict[str, float]) -> dict[str, float]:
    """Counts that do not depend on copies of the state."""
    return {name: count for name, count in counts.items() if name not in OF_COPIES}
