"""Tables to be polled, and queries over their changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from shedjoin import polled_relation, stop_polling
from shedjoin.versions.folder import VersionFolder

Row = tuple[Any, ...]
PATIENCE_S = 240


class Table:
    """A table that is changed, and a database that may be away."""

    def __init__(self, spark: SparkSession, rows: list[Row]) -> None:
        self.spark, self.rows = spark, rows
        self.columns = "ad int, name string, price double"
        self.away = False
        self.reads = 0

    def read(self) -> DataFrame:
        self.reads += 1
        if self.away:
            raise ConnectionError("the database is away")
        return self.spark.createDataFrame(self.rows, self.columns)

    def put(self, rows: list[Row], log: Path) -> None:
        """Change the table, and wait until the poller has seen that."""
        self.rows = rows
        done = self.reads + 2
        wait_for(lambda: self.reads >= done)
        seen = observed(log)
        wait_for(lambda: observed(log) > seen)


def observed(log: Path) -> int:
    found = VersionFolder(log).observed()
    return 0 if found is None else found.at_us


@contextmanager
def polled(table: Table, log: Path, **more: Any) -> Iterator[DataFrame]:  # noqa: ANN401
    """Poll a table five times a second."""
    timing = {"every": "200 milliseconds", "stale_after": "2 seconds", **more}
    frame = polled_relation(table.read, log=log, **timing)
    try:
        yield frame
    finally:
        assert stop_polling(log)


class Seen:
    """What a query was given, by micro-batch; a repeated one must get the same."""

    def __init__(self) -> None:
        self.batches: dict[int, list[Row]] = {}

    def take(self, frame: DataFrame, number: int) -> None:
        rows = list(map(tuple, frame.collect()))
        assert repr(self.batches.setdefault(number, rows)) == repr(rows)

    def rows(self) -> list[Row]:
        return [row for number in sorted(self.batches) for row in self.batches[number]]

    def start(self, frame: DataFrame, checkpoint: Path, **how: Any) -> StreamingQuery:  # noqa: ANN401
        writer = frame.writeStream.foreachBatch(self.take)
        writer = writer.option("checkpointLocation", str(checkpoint))
        return (writer.trigger(**how) if how else writer).start()

    def catch_up(self, frame: DataFrame, checkpoint: Path) -> None:
        """Read all there is; on PySpark 4.1 a query that repeats does no more."""
        for _ in range(2):
            query = self.start(frame, checkpoint, availableNow=True)
            assert query.awaitTermination(PATIENCE_S)

    def table(self) -> set[str]:
        """What the changes come to; each must make sense where it stands."""
        rows: set[str] = set()
        last = None
        for *row, change, at in self.rows():
            key = repr(tuple(row))
            assert (key in rows) == (change == "delete"), (key, change)
            (rows.add if change == "insert" else rows.discard)(key)
            assert last is None or at >= last
            last = at
        return rows


def as_set(rows: list[Row]) -> set[str]:
    return set(map(repr, rows))


def wait_for(ready: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.02)
