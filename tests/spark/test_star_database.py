"""A join through a relation that lives in PostgreSQL, while others write to it."""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import shedjoin as sj
from docs.pages import blocks
from shedjoin.versions.folder import VersionFolder
from support.postgresql import Server

from .polled import wait_for
from .queries import finish, start, written

pytestmark = pytest.mark.spark

KEYS, ROWS, WINDOW_S = 6, 12, 3


class Fact(NamedTuple):
    """A relation row, active from ``begin`` on and before ``end``, in seconds."""

    a: int
    b: int
    begin: float
    end: float


class Streams:
    """Rows of both streams in files, with the time at which they are written."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.rows: dict[str, list[tuple[int, int, float]]] = {"a": [], "b": []}
        for key in self.rows:
            (folder / key).mkdir(parents=True)
        self.write()

    def write(self) -> None:
        """One more file of each."""
        for key, rows in self.rows.items():
            new = [
                (len(rows) + n, self.rng.randrange(KEYS), round(time.time(), 6))
                for n in range(ROWS)
            ]
            rows.extend(new)
            number, value, at = zip(*new, strict=True)
            times = pa.array([round(1e6 * t) for t in at], pa.timestamp("us", "UTC"))
            table = pa.table({"t": times, key: pa.array(value, pa.int32())})
            table = table.append_column(f"{key}_id", pa.array(number))
            path = self.folder / key / f"{len(rows):06d}.parquet"
            pq.write_table(table, path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)

    def read(self, spark: SparkSession) -> list[DataFrame]:
        found = []
        for key in self.rows:
            schema = f"t timestamp, {key} int, {key}_id long"
            reader = spark.readStream.schema(schema)
            frame = reader.parquet(str(self.folder / key))
            found.append(frame.withWatermark("t", "2 seconds"))
        return found

    def joined(self, facts: list[Fact]) -> Counter[tuple[int, int]]:
        """By definition, row by row."""
        return Counter(
            (r, s)
            for (r, a, t), (s, b, u), f in product(
                self.rows["a"], self.rows["b"], facts
            )
            if (f.a, f.b) == (a, b)
            and f.begin <= min(t, u)
            and max(t, u) < f.end
            and abs(t - u) <= WINDOW_S
        )


def facts_of(log: Path) -> list[Fact]:
    """What the readings of the table have found, as a table with times."""
    folder, facts = VersionFolder(log), list[Fact]()
    for version in range(1, folder.last() + 1):
        (changes,) = folder.read(version, version)
        for row in changes.to_pylist():
            at = -inf if row["at"] is None else row["at"].timestamp()
            if row["change"] == "insert":
                facts.append(Fact(row["a"], row["b"], at, inf))
            else:
                facts = [
                    f._replace(end=at)
                    if f[:2] == (row["a"], row["b"]) and f.end == inf
                    else f
                    for f in facts
                ]
    return facts


def change(server: Server, rng: random.Random) -> None:
    """Some pairs come and some go, in one transaction."""
    pairs = [(rng.randrange(KEYS), rng.randrange(KEYS)) for _ in range(3)]
    values = ", ".join(map(str, pairs))
    deleted = f"delete from related where a = {rng.randrange(KEYS)}"  # noqa: S608
    inserted = f"insert into related values {values} on conflict do nothing"  # noqa: S608
    server.run(f"begin; {deleted}; {inserted}; commit")


def work(streams: Streams, server: Server | None, rounds: int) -> None:
    for _ in range(rounds):
        streams.write()
        if server is not None:
            change(server, streams.rng)
        time.sleep(0.4)


def test_a_relation_in_a_database(
    spark: SparkSession, postgresql: Server, tmp_path: Path
) -> None:
    """Started three times, and the database is away for some seconds. Seed 6."""
    rng, log = random.Random(6), tmp_path / "log"
    postgresql.run(
        "drop table if exists related;"
        "create table related (a int, b int, primary key (a, b));"
        "insert into related select n % 6, n % 5 from generate_series(1, 30) n"
    )
    streams = Streams(tmp_path / "in", rng)

    def read() -> DataFrame:
        properties = postgresql.properties
        return spark.read.jdbc(postgresql.url, "related", properties=properties)

    changes = sj.polled_relation(
        read, log=log, every="300 milliseconds", stale_after="2 seconds"
    )
    frame = sj.star_join(
        *(*streams.read(spark), changes),
        on=(("a", "a"), ("b", "b")),
        within=sj.Within(before="3 seconds", after="3 seconds"),
        change=("change", "at"),
        delay="10 seconds",
        shards=2,
    ).select("a_id", "b_id")
    try:
        for away in (False, True):
            query = running(frame, tmp_path)
            work(streams, postgresql, 5)
            if away:
                postgresql.stop()
                wait_for(lambda: bool(VersionFolder(log).failure()))
                time.sleep(3)
                held = len(written(frame, tmp_path))
                work(streams, None, 3)
                # Rows that come meanwhile wait.
                assert len(written(frame, tmp_path)) == held
                assert query.exception() is None
                postgresql.start()
                work(streams, postgresql, 4)
            query.stop()
        ended = time.time()
        wait_for(lambda: (VersionFolder(log).observed() or (0, 0))[1] > 1e6 * ended)
        found = finish(start(frame, tmp_path), frame, tmp_path).rows
    finally:
        sj.stop_polling(log)
    expected = streams.joined(facts_of(log))
    assert Counter(map(tuple, found)) == expected
    assert expected.total() > 200
    assert sum(f.end < inf for f in facts_of(log)) > 10


def running(frame: DataFrame, folder: Path) -> StreamingQuery:
    """Start a query that goes on, and wait for its first micro-batch."""
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "results"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    wait_for(lambda: bool(query.recentProgress))
    return query


def test_the_page(spark: SparkSession, postgresql: Server, tmp_path: Path) -> None:
    star, polled, stop = blocks("docs/how-to/join-through-a-relation.md")
    postgresql.run("drop table if exists ads; create table ads (ad int, campaign int)")
    page: dict[str, Any] = {
        "spark": spark,
        "url": postgresql.url,
        "properties": postgresql.properties,
        "folder": tmp_path / "log",
    }
    for name, key in (("shown", "ad"), ("clicked", "campaign")):
        reader = spark.readStream.schema(f"{name}_at timestamp, {key} int")
        (tmp_path / name).mkdir()
        rows = reader.parquet(str(tmp_path / name))
        page[name] = rows.withWatermark(f"{name}_at", "1 minute")
    for block in (polled, star, stop):
        exec(block, page)  # noqa: S102  (our own page)
    assert page["changes"].columns[-2:] == ["change", "at"]
    assert page["shown_and_clicked"].columns == [
        *("shown_at", "ad", "clicked_at", "campaign")
    ]
    assert not sj.stop_polling(tmp_path / "log")
