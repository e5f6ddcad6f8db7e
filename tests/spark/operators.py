"""One shard of the join, fed by hand through Spark's own tester; no JVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import Row

from local.runs import window_of
from shedjoin.columns.arrivals import HEARTBEAT
from shedjoin.columns.ipc import decode_rows
from shedjoin.columns.packing import pack
from shedjoin.local.tables import usable_rows
from shedjoin.spark.operator import JoinProcessor
from shedjoin.spec.report import count_types
from shedjoin.spec.streams import JoinSpec
from support.keys import key_fields
from support.sides import SIDES
from support.specs import make_spec
from support.streams import Case, tables

from .queries import Rows

SHARD = 0
START_MS = 1_700_000_000_000

Arrivals: TypeAlias = pd.DataFrame
State = dict[tuple[int], tuple[bytes]]


class Moment(NamedTuple):
    """What a micro-batch gave, whether its state had to be read, and what it left."""

    results: Rows
    restored: int
    fallbacks: int
    state: State


class Operator:
    """The operator with an empty state store."""

    def __init__(self, spec: JoinSpec) -> None:
        from pyspark.sql.streaming.tws_tester import TwsTester

        self.tester = TwsTester(
            JoinProcessor(spec, list(range(spec.shards)), durable=True),
            timeMode="EventTime",
            eventTimeExtractor=lambda _: 1 << 62,  # late rows are the operator's work
        )

    def run(self, arrivals: Arrivals) -> Moment:
        """Join a micro-batch."""
        return self._moment(self.tester.testInPandas(SHARD, arrivals))

    def wake(self, watermark_ms: int) -> Moment:
        """Move the watermark; the timer fires."""
        return self._moment(self.tester.setWatermark(watermark_ms))

    def play(self, batches: Sequence[Arrivals]) -> list[Moment]:
        """Join micro-batches; the watermark moves after each."""
        moments = []
        for number, arrivals in enumerate(batches):
            moments += [self.run(arrivals), self.wake(START_MS + 1000 * number)]
        return moments

    @property
    def state(self) -> State:
        """All that the state store holds."""
        return dict(self.tester.peekMapState("segments", SHARD))

    @state.setter
    def state(self, state: State) -> None:
        self.tester.updateMapState("segments", SHARD, state)

    def _moment(self, rows: Any) -> Moment:  # noqa: ANN401  (the tester's own type)
        if rows.empty:
            return Moment([], 0, 0, self.state)
        batches = [
            batch
            for blob in rows["results"]
            if blob is not None
            for batch in decode_rows(blob)
        ]
        results = [
            values
            for batch in batches
            for values in zip(*(c.to_pylist() for c in batch.columns), strict=True)
        ]
        names = list(count_types(("left", "right")))
        counts = np.sum(rows["counts"].dropna().tolist(), axis=0)
        misses, fallbacks = (
            int(counts[names.index(f"copy_{name}")]) for name in ("misses", "fallbacks")
        )
        return Moment(results, misses, fallbacks, self.state)


def spec_of(case: Case) -> JoinSpec:
    """The join of a case, as one shard."""
    left, right = tables(case)[0]
    return make_spec(
        (left.schema, right.schema),
        [name for name, _ in key_fields(case.key_kind)],
        window_of(case),
        ("left_time", "right_time"),
        1,
        ("_left", "_right"),
    )


def arrivals_of(case: Case, *, backwards: bool = False) -> list[Arrivals]:
    """The rows that reach the shard in each micro-batch: a beat and some blobs."""
    spec = spec_of(case)
    batches = []
    for pair in tables(case):
        rows = [Row(stream=HEARTBEAT, digest=b"", blob=b"")]
        for side in SIDES:
            usable = usable_rows(pair[side], spec.streams[side], direct=spec.direct)
            size = max(1, -(-usable.num_rows // 3))
            for first in range(0, usable.num_rows, size):
                for _, blob in pack([usable.slice(first, size)], side, spec):
                    payload = pa.py_buffer(blob.payload).to_pybytes()
                    rows.append(Row(stream=side, digest=blob.digest, blob=payload))
        frame = pd.DataFrame(rows, columns=["stream", "digest", "blob"])
        batches.append(frame[::-1] if backwards else frame)
    return batches
