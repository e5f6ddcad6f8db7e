"""Streaming queries run to the end of their input."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from .processes import count

PATIENCE_S = 480
"""Longer than a query takes on a machine that others use, too: no test measures it."""

Rows = list[tuple[Any, ...]]
Counts = dict[str, int]


class Run(NamedTuple):
    """What was written to a folder, and the last query's progress by micro-batch."""

    rows: Rows
    progress: list[dict[str, Any]]

    def observed(self, name: str = "shedjoin") -> list[Counts]:
        """The counts of each micro-batch."""
        return [batch["observedMetrics"][name] for batch in self.progress]

    def total(self, *fields: str, name: str = "shedjoin") -> int:
        """Some counts added up over all micro-batches."""
        return sum(counts[field] for counts in self.observed(name) for field in fields)

    def dropped(self) -> list[int]:
        """Late rows of each micro-batch that Spark's own operators counted."""
        return [
            sum(part["numRowsDroppedByWatermark"] for part in batch["stateOperators"])
            for batch in self.progress
        ]


def start(frame: DataFrame, folder: Path) -> StreamingQuery:
    """Start a query that reads all there is and writes each row exactly once."""
    return (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "results"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def finish(query: StreamingQuery, frame: DataFrame, folder: Path) -> Run:
    """Wait until a query has used up its input; a failed query raises."""
    progress = _ended(query, PATIENCE_S)
    return Run(written(frame, folder), progress)


def stop_after_a_micro_batch(frame: DataFrame, folder: Path) -> None:
    """Run a query and stop it early in a micro-batch after its first one.

    Not between two: a file stream that is stopped between its own log and the query's
    puts two files into one micro-batch, and what is shed depends on micro-batches.
    Spark may take the interruption for a failure, where it comes while a job is made.
    """
    done = count(folder, "commits")
    query = start(frame, folder)
    while query.isActive:
        now = count(folder, "commits")
        if done < now < count(folder, "offsets"):
            break
        time.sleep(0.01)
    with suppress(StreamingQueryException):
        query.stop()


def run(frame: DataFrame, folder: Path) -> Run:
    """Run a query to the end of its input."""
    return finish(start(frame, folder), frame, folder)


def drain(frame: DataFrame, checkpoint: Path, patience_s: int = PATIENCE_S) -> Run:
    """Run a query to the end of its input; its results go nowhere."""
    query = (
        frame.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    return Run([], _ended(query, patience_s))


def run_both(a: DataFrame, b: DataFrame, folder: Path) -> tuple[Run, Run]:
    """Run two queries side by side."""
    folders = folder / "a", folder / "b"
    queries = start(a, folders[0]), start(b, folders[1])
    return finish(queries[0], a, folders[0]), finish(queries[1], b, folders[1])


def _ended(query: StreamingQuery, patience_s: int) -> list[dict[str, Any]]:
    try:
        assert query.awaitTermination(patience_s), "the query does not end"
    finally:
        query.stop()
    return [json.loads(batch.json) for batch in query.recentProgress]


def written(frame: DataFrame, folder: Path) -> Rows:
    """All that the queries of this folder have written and committed."""
    reader = frame.sparkSession.read.schema(frame.schema)
    return list(map(tuple, reader.parquet(str(folder / "results")).collect()))


def same(found: Iterable[tuple[Any, ...]], expected: Iterable[tuple[Any, ...]]) -> bool:
    """Whether both hold the same rows equally often; says where not.

    Compared as text: it tells minus zero from zero, and a NaN from nothing.
    """
    ours, theirs = Counter(map(repr, found)), Counter(map(repr, expected))
    missing, extra = list((theirs - ours).items()), list((ours - theirs).items())
    assert not missing, f"{len(missing)} missing: {missing[:3]}; extra: {extra[:3]}"
    assert not extra, f"{len(extra)} too many: {extra[:3]}"
    return True
