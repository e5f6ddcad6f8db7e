"""The stateful operator: one call per shard and micro-batch.

Spark has two interfaces for such an operator. The interface for rows collects all rows
of a call before it sends the first. The interface for pandas frames, which is used
here, sends every frame as soon as it is made. So the joined rows of a frequent key
never have to fit into memory. A frame has only a few cells, which are binary: rows
themselves never pass through pandas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from shedjoin.columns.arrivals import CONTROL, HEARTBEAT, Blob
from shedjoin.columns.batches import PIECE_BYTES, grouped, pieces
from shedjoin.columns.ipc import encode_rows
from shedjoin.control.record import Messages, Record, Sent
from shedjoin.spark.disk import DEFAULT, CopySettings
from shedjoin.spark.relation import SentRelation
from shedjoin.spark.shipping import Shipped
from shedjoin.spark.spool import Spool
from shedjoin.spark.worker import local_property, settle_worker
from shedjoin.spec.streams import JoinSpec

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        MapState,
        StatefulProcessorHandle,
        TimerValues,
    )

    from shedjoin.operators.frame.join import Step

_NUMBER = StructType([StructField("number", LongType())])
_BLOB = StructType([StructField("blob", BinaryType())])
_FRAME_BLOBS = 16
"""Greatest number of result blobs in a frame. Each frame has a fixed cost, so it should
have many blobs. But all of them are in memory at once."""


class MapStateBlobs:
    """Numbered blobs of one shard in Spark's state store.

    In a ``new`` query, Spark is first asked whether there is any state, because it logs
    a warning for each blob that it does not find.
    """

    def __init__(self, state: MapState, *, new: bool = False) -> None:
        self._state = state
        self._new = new

    def get(self, number: int) -> bytes | None:
        """Give a blob, or None if it is not stored."""
        if self._new and not self._state.exists():
            return None
        stored = self._state.getValue((number,))
        return None if stored is None else stored[0]

    def put(self, number: int, blob: bytes) -> None:
        """Store a blob."""
        self._state.updateValue((number,), (blob,))

    def remove(self, number: int) -> None:
        """Remove a blob."""
        self._state.removeKey((number,))


class JoinProcessor(Shipped, StatefulProcessor):
    """Joins the arrivals of a shard, which come as blobs, with its residents.

    Parameters
    ----------
    spec : JoinSpec
        The join.
    numbers : list of int
        Grouping keys of the shards, in order.
    name : str
        The join's name in the query.
    settings : CopySettings
        Settings of the copies of state on the nodes.
    steered : bool, default False
        Whether the join has a control folder. It then emits a record of messages.
    relation : SentRelation, optional
        The relation of the join, if it has one that does not change.
    durable : bool
        Whether to keep state for the next micro-batch. A batch query has none.
    """

    def __init__(
        self,
        spec: JoinSpec,
        numbers: list[int],
        name: str = "shedjoin",
        settings: CopySettings = DEFAULT,
        *,
        durable: bool,
        steered: bool = False,
        relation: SentRelation | None = None,
    ) -> None:
        self._spec = spec
        self._numbers = numbers
        self._name = name
        self._settings = settings
        self._durable = durable
        self._steered = steered
        self._relation = relation

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the one state variable: numbered blobs of a shard."""
        self._handle = handle
        self._state = handle.getMapState("segments", _NUMBER, _BLOB)

    def handleInputRows(
        self,
        key: tuple[int, ...],
        rows: Iterable[pd.DataFrame],
        timerValues: TimerValues,
    ) -> Iterator[pd.DataFrame]:
        """Join the arrivals of one shard."""
        spool = Spool.of(_blobs(rows))
        yield from self._run(key[0], spool.blobs(), timerValues)

    def handleExpiredTimer(
        self,
        key: tuple[int, ...],
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Iterator[pd.DataFrame]:
        """Drop the expired residents of a shard that got no rows."""
        del expiredTimerInfo
        yield from self._run(key[0], [], timerValues, woken=True)

    def close(self) -> None:
        """Do nothing: no resource is held between micro-batches."""

    def _run(
        self, number: int, blobs: list[Blob], timer: TimerValues, *, woken: bool = False
    ) -> Iterator[pd.DataFrame]:
        # The driver also loads this module, for the schema of the state. The driver
        # needs no compiled kernels, and starts half a second faster without them.
        from shedjoin.spark.copies import Owner
        from shedjoin.spark.shard import SparkShard

        query = local_property("sql.streaming.queryId") or "batch"
        place = self._numbers.index(number)
        owner = Owner(query, self._name, self._spec.fingerprint(), place)
        # Until there is a watermark, a shard may have no state yet.
        may_be_new = self._durable and timer.getCurrentWatermarkInMs() <= 0
        state = MapStateBlobs(self._state, new=may_be_new)
        shard = SparkShard(self._spec, owner, state, self._handle, self._settings)
        if self._relation is not None:
            shard.relation = self._relation.opened().of_shard(place)
        if self._durable:
            rows = [blob for blob in blobs if blob.stream != CONTROL]
            watermark_ms = timer.getCurrentWatermarkInMs()
            messages = self._messages(blobs)
            step = shard.run(rows, watermark_ms, woken=woken, messages=messages)
        else:
            step = shard.run_once(blobs)
        for frame in _frames(step, self._spec.names):
            if self._steered:
                frame["record"] = None
            yield frame
        if self._steered and place == 0:
            yield _record(shard.record)
        settle_worker("join")  # after the first step all kernels are loaded

    def _messages(self, blobs: Sequence[Blob]) -> Messages | None:
        if not self._steered:
            return None
        sent = [
            Sent(blob.digest.decode(), bytes(blob.payload))
            for blob in blobs
            if blob.stream == CONTROL
        ]
        return Messages(sent, int(local_property("streaming.sql.batchId") or 0))


def _blobs(frames: Iterable[pd.DataFrame]) -> Iterator[Blob]:
    """Blobs of a shard, without heartbeats."""
    for frame in frames:
        columns = (frame["stream"], frame["digest"], frame["blob"])
        for stream, digest, blob in zip(*columns, strict=True):
            if stream != HEARTBEAT:
                yield Blob(int(stream), digest, blob)


def _frames(step: Step, streams: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Joined rows as they come, and the counts at the end."""
    cut = (piece for batch in step for piece in pieces(batch, PIECE_BYTES))
    # Columns of rows without a partner have other types: all their values are null.
    alike = (same for _, same in groupby(cut, attrgetter("schema")))
    cells: list[bytes] = []
    for group in (each for same in alike for each in grouped(same, PIECE_BYTES)):
        cells.append(encode_rows(group, group[0].schema).to_pybytes())
        if len(cells) == _FRAME_BLOBS:
            yield _frame(cells, [None] * len(cells))
            cells = []
    counts = [float(count) for count in step.report.counts(streams).values()]
    if cells or any(counts):
        yield _frame([*cells, None], [*[None] * len(cells), counts])


def _frame(
    cells: Sequence[bytes | None], counts: Sequence[Sequence[float] | None]
) -> pd.DataFrame:
    """Blobs, and counts in the last row."""
    import pandas as pd

    columns = {"results": cells, "counts": counts}
    return pd.DataFrame(
        {name: pd.Series(column, dtype=object) for name, column in columns.items()}
    )


def _record(record: Record) -> pd.DataFrame:
    """What became of control messages, in a row of its own."""
    frame = _frame([None], [None])
    frame["record"] = json.dumps(record.facts())
    return frame
