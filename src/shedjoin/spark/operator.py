"""The stateful operator: one call per shard and micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from shedjoin.core.arrivals import Blob
from shedjoin.core.report import Report
from shedjoin.core.spec import JoinSpec
from shedjoin.spark.worker import settle_worker

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        StatefulProcessorHandle,
        TimerValues,
    )

    from shedjoin.core.step import Outcome

_NUMBER = StructType([StructField("number", LongType())])
_BLOB = StructType([StructField("blob", BinaryType())])


class JoinProcessor(StatefulProcessor):
    """Joins the blobs of a shard with its residents.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    numbers : list of int
        Grouping keys of the shards, in order.
    durable : bool
        Keep state for the next micro-batch; off for a batch query, which has none.
    """

    def __init__(self, spec: JoinSpec, numbers: list[int], *, durable: bool) -> None:
        self._spec = spec
        self._numbers = numbers
        self._durable = durable

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the one state variable: numbered blobs of a shard."""
        self._handle = handle
        self._state = handle.getMapState("segments", _NUMBER, _BLOB)

    def handleInputRows(
        self, key: tuple[int, ...], rows: Iterable[Row], timerValues: TimerValues
    ) -> Iterator[Row]:
        """Join the arrivals of one shard."""
        blobs = [Blob(row.side, row.digest, row.blob) for row in rows if row.blob]
        yield from self._run(key[0], blobs, timerValues)

    def handleExpiredTimer(
        self,
        key: tuple[int, ...],
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Iterator[Row]:
        """Let go of expired residents of a shard that got no rows."""
        del expiredTimerInfo
        yield from self._run(key[0], [], timerValues)

    def close(self) -> None:
        """Nothing is held between micro-batches."""

    def _run(self, shard: int, blobs: list[Blob], timer: TimerValues) -> Iterator[Row]:
        # The driver also loads this module, to learn the state's schema: it needs no
        # compiled kernels, and a start without them is half a second faster.
        from shedjoin.spark.shard import SparkShard

        place = self._numbers.index(shard)
        worker = SparkShard(self._spec, place, self._state, self._handle)
        if self._durable:
            outcome = worker.run(blobs, timer.getCurrentWatermarkInMs())
        else:
            outcome = worker.run_once(blobs)
        settle_worker("join")  # after the first step: by now all is compiled
        yield from _joined(outcome)


def _joined(outcome: Outcome) -> Iterator[Row]:
    from shedjoin.spark.shard import result_blobs

    counts = asdict(outcome.report)
    for blob in result_blobs(outcome.results):
        yield Row(results=blob, **counts)
        counts = asdict(Report())
    if any(counts.values()):
        yield Row(results=None, **counts)
