"""Run a join over micro-batches of pyarrow tables, in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.control.message import encode_message
from shedjoin.control.record import Messages, Sent
from shedjoin.errors import ParameterError
from shedjoin.local.delivery import Delivery, greatest_us
from shedjoin.local.run import LocalBatch, Run
from shedjoin.local.shard import LocalShard
from shedjoin.local.tables import result_schema
from shedjoin.local.watermark import Watermark
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec


class Runner:
    """The shards of a join, and the watermark between its micro-batches.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    schemas : sequence of pyarrow.Schema
        Schema of each stream, and then of the relation if there is one.
    delays_us : sequence of int
        How far each stream's watermark stays behind its greatest event time.
    delivery : Delivery
        How rows reach the shards.
    restart_every : int
        Number of micro-batches after which the run restarts from the stored bytes. 0
        means never.
    bucket_seed : int
        Seed of the hash index.
    collect : bool
        Keep the joined rows; otherwise they are only counted.
    """

    def __init__(
        self,
        spec: JoinSpec,
        schemas: Sequence[pa.Schema],
        delays_us: Sequence[int],
        delivery: Delivery,
        restart_every: int,
        bucket_seed: int,
        *,
        collect: bool = True,
    ) -> None:
        self.done = Run([], [], spec.names)
        self._spec = spec = replace(spec, lateness_us=max(delays_us))
        self._schema = result_schema(schemas, spec)
        self._watermark = Watermark(delays_us)
        self._delivery = delivery
        self._restart_every = restart_every
        self._collect = collect
        self._shards = [LocalShard(spec, n, bucket_seed) for n in range(spec.shards)]

    def run(
        self, tables: Sequence[pa.Table], settings: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Join one micro-batch; the settings of messages come into force with it."""
        arrived: list[list[Blob]] = [[] for _ in self._shards]
        for place, blob in self._delivery.deliver(tables, self._spec):
            arrived[place].append(blob)
        number = len(self.done.batches)
        if self._restart_every and number and number % self._restart_every == 0:
            for shard in self._shards:
                shard.restart()
        if settings:
            messages = _messages(settings, number)
            for shard in self._shards:
                shard.steer(messages)
        watermark_ms = self._watermark.current_ms
        outcomes = [
            shard.run(blobs, watermark_ms, collect=self._collect)
            for shard, blobs in zip(self._shards, arrived, strict=True)
        ]
        report = sum((outcome.report for outcome in outcomes), Report())
        rows = [
            batch.cast(self._schema)
            for outcome in outcomes
            for batch in outcome.results
        ]
        results = pa.Table.from_batches(rows, self._schema)
        self.done.batches.append(LocalBatch(results, report))
        digests = (shard.blobs.digest() for shard in self._shards)
        self.done.state_digests.append(b"".join(digests))
        self._watermark.observe(
            [
                greatest_us(table, self._spec, stream)
                for stream, table in enumerate(tables[: len(self._spec.streams)])
            ]
        )


def _messages(settings: Sequence[Mapping[str, Any]], number: int) -> Messages:
    """Encode messages as in the files of a control folder.

    Raise ``ParameterError`` if a message is wrong.
    """
    if isinstance(settings, Mapping):
        raise ParameterError(
            f"control={{{number}: {settings!r}}} is not a list of messages.",
            fix=f"write control={{{number}: [{settings!r}]}}.",
        )
    sent = [
        Sent(f"{number:06d}-{place:06d}", encode_message(**each))
        for place, each in enumerate(settings)
    ]
    return Messages(sent, number)
