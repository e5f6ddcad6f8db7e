"""How an attempt calls the operator: the one module that knows its interface.

The operator takes and gives pandas frames. What it gives has a column ``results``,
Arrow streams or nothing, a column ``counts``, those of the report or nothing, and, if
the join has a control folder, a column ``record``, that of messages or nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from logging import getLogger
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext

from shedjoin.columns.arrivals import CONTROL, HEARTBEAT, Blob
from shedjoin.columns.ipc import decode_rows
from shedjoin.control.record import Sent
from shedjoin.spark.disk import CopySettings
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spark.relation import SentRelation
from shedjoin.spec.report import count_types
from shedjoin.spec.streams import JoinSpec

SHARD = 0
QUERY = "11111111-2222-3333-4444-555555555555"
OF_COPIES = (
    "copy_hits",
    "copy_misses",
    "copy_fallbacks",
    "state_bytes",
    "longest_chain",
)
"""Counts that depend on how the state was come by."""
_MEMORY = (("disk", "_works"), ("disk", "_next_sweep"), ("relation", "_OPENED"))
"""Variables of modules in which a worker remembers things from attempt to attempt."""


class Given(NamedTuple):
    """What an attempt gave: joined rows, the sums of its counts, and its records."""

    rows: list[pa.RecordBatch]
    counts: dict[str, float]
    records: list[dict[str, Any]]


class _TimerValues:
    def __init__(self, watermark_ms: int) -> None:
        self._watermark_ms = watermark_ms

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802  (PySpark's name)
        return self._watermark_ms

    def getCurrentProcessingTimeInMs(self) -> int:  # noqa: N802
        return -1


class Worker:
    """What a worker process remembers from one attempt to the next."""

    def __init__(self) -> None:
        self._memory = {place: _first(*place) for place in _MEMORY}

    def wake(self) -> None:
        """Put its memory in place: all workers of the test share one process."""
        for (module, name), value in self._memory.items():
            if value is not None:
                setattr(sys.modules[f"shedjoin.spark.{module}"], name, value)


def _first(module: str, name: str) -> object:
    """What such a variable is in a new process; None where there is none."""
    held = getattr(sys.modules.get(f"shedjoin.spark.{module}"), name, None)
    return count() if isinstance(held, count) else held if held is None else {}


@contextmanager
def silent() -> Iterator[None]:
    """Keep the log quiet: what is done about faults is logged."""
    with patch.object(getLogger("shedjoin"), "disabled", new=True):
        yield


def surround(local_dirs: str, serial: int, micro_batch: int) -> None:
    """Set what an attempt finds around it: its node's folders and its task."""
    os.environ["SPARK_LOCAL_DIRS"] = local_dirs
    context = object.__new__(TaskContext)  # its own constructor gives out one object
    context._partitionId = SHARD
    context._taskAttemptId = serial
    context._localProperties = {
        "sql.streaming.queryId": QUERY,
        "streaming.sql.batchId": str(micro_batch),
    }
    TaskContext._setTaskContext(context)


def leave() -> None:
    """Take that away again."""
    os.environ.pop("SPARK_LOCAL_DIRS", None)
    TaskContext._setTaskContext(None)


def make_operator(
    spec: JoinSpec,
    name: str,
    *,
    sweeps: bool,
    steered: bool,
    relation: SentRelation | None,
) -> JoinProcessor:
    """The operator of a join with a name; ``sweeps`` removes what nobody works on."""
    settings = CopySettings(max_age_s=0.0 if sweeps else 3600.0)
    return JoinProcessor(
        spec,
        list(range(spec.shards)),
        name,
        settings,
        durable=True,
        steered=steered,
        relation=relation,
    )


def message_blobs(messages: Sequence[Sent]) -> list[Blob]:
    """Control messages as they reach a shard."""
    return [Blob(CONTROL, name.encode(), text) for name, text in messages]


def begin(
    operator: JoinProcessor,
    handle: Any,  # noqa: ANN401  (stands for Spark's)
    blobs: Sequence[Blob] | None,
    watermark_ms: int,
) -> Iterator[pd.DataFrame]:
    """Start an attempt; without blobs a timer wakes it."""
    operator.init(handle)
    timer: Any = _TimerValues(watermark_ms)
    if blobs is None:
        return operator.handleExpiredTimer((SHARD,), timer, None)  # type: ignore[arg-type]
    return operator.handleInputRows((SHARD,), _frames(blobs), timer)


def gathered(frames: Iterable[pd.DataFrame], streams: Sequence[str]) -> Given:
    """Put together what an attempt gave."""
    rows = [row for frame in frames for row in frame.to_numpy(dtype=object).tolist()]
    blobs = [blob for blob, *_ in rows if blob]
    names = list(count_types(streams))
    total = np.sum([counts for _, counts, *_ in rows if counts], axis=0, initial=0.0)
    counts = dict(zip(names, np.broadcast_to(total, len(names)).tolist(), strict=True))
    records = [json.loads(record) for _, _, *rest in rows for record in rest if record]
    joined = [batch for blob in blobs for batch in decode_rows(blob)]
    return Given(joined, counts, records)


def _arrived(blobs: Sequence[Blob]) -> list[dict[str, Any]]:
    """A beat, which every shard gets in every micro-batch, and the blobs."""
    rows = [{"shard": SHARD, "stream": HEARTBEAT, "digest": b"", "blob": b""}]
    for blob in blobs:
        payload = pa.py_buffer(blob.payload).to_pybytes()
        rows.append(
            {
                "shard": SHARD,
                "stream": blob.stream,
                "digest": blob.digest,
                "blob": payload,
            }
        )
    return rows


def _frames(blobs: Sequence[Blob]) -> Iterator[pd.DataFrame]:
    rows = _arrived(blobs)
    for part in (rows[:2], rows[2:]):
        columns = {name: [row[name] for row in part] for name in rows[0]}
        yield pd.DataFrame(columns)
