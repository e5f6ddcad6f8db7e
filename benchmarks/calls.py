"""How often a shard calls the state store in a micro-batch: counted, not timed.

The shard of a Spark worker runs here without Spark, over blobs and timers that count
their calls. Each is a message to the JVM and back.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, cast
from unittest.mock import patch

import numpy as np

import shedjoin as sj
from benchmarks.streams import START_US, Stream
from shedjoin.columns.packing import pack
from shedjoin.local.shard import MemoryBlobs
from shedjoin.local.tables import stream_of
from shedjoin.operators.frame.join import Outcome
from shedjoin.policies import Expected
from shedjoin.request.spec import Asked, join_spec
from shedjoin.spark.copies import Owner
from shedjoin.spark.disk import CopySettings
from shedjoin.spark.shard import SparkShard
from shedjoin.spec.keys import SIDES
from shedjoin.spec.shedding import Shedding

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

MICRO_BATCHES = 64
"""Enough for the logs of a budget to have been merged, and written anew."""
_ROWS, _KEYS, _SPAN_S, _WINDOW = 125, 125, 120, "60 seconds"


class _Calls(MemoryBlobs):
    """A state store and its timers, counted."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.registerTimer = self.deleteTimer = self._note

    def get(self, number: int) -> bytes | None:
        self._note()
        return super().get(number)

    def put(self, number: int, blob: bytes) -> None:
        self._note()
        super().put(number, blob)

    def remove(self, number: int) -> None:
        self._note()
        super().remove(number)

    def _note(self, _: int = 0) -> None:
        self.count += 1


def calls_per_shard(rows: int = _ROWS, budget: sj.Budget | None = None) -> float:
    """Mean calls of a shard in a micro-batch with so many rows of either stream.

    The first half of the micro-batches is left out: state has then begun to expire.
    """
    with (
        tempfile.TemporaryDirectory() as local,
        patch.dict(os.environ, SPARK_LOCAL_DIRS=local),  # for the copy of a node
    ):
        counted = _counted(rows, budget)
    return float(np.mean(counted[MICRO_BATCHES // 2 :]))


def _counted(rows: int, budget: sj.Budget | None) -> list[int]:
    rng = np.random.default_rng(7)
    stream = Stream(
        MICRO_BATCHES * rows, MICRO_BATCHES, _KEYS, MICRO_BATCHES * _SPAN_S, seed=7
    )
    schemas = [stream.part(side, 0, rng).schema for side in SIDES]
    within = sj.Within(before=_WINDOW, after=_WINDOW)
    asked = Asked(on="key", within=within, time=("left_time", "right_time"))
    spec = join_spec([*map(stream_of, schemas, SIDES)], asked, 1)
    if budget is not None:
        spec = replace(spec, shedding=Shedding(budget, Expected()))
    owner = Owner("calls", "calls", spec.fingerprint(), 0)
    calls, counted = _Calls(), []
    timers = cast("StatefulProcessorHandle", calls)
    for number in range(MICRO_BATCHES):
        before = calls.count
        shard = SparkShard(spec, owner, calls, timers, CopySettings())
        arrived = [
            blob
            for own, side in enumerate(("left", "right"))
            for _, blob in pack(stream.part(side, number, rng).to_batches(), own, spec)
        ]
        watermark_ms = (START_US + number * _SPAN_S * 1_000_000) // 1000 - 1
        Outcome.of(shard.run(arrived if rows else [], watermark_ms, woken=not rows))
        counted.append(calls.count - before)
    return counted
