"""A relation in a real database."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from shedjoin import polled_relation, stop_polling
from shedjoin.versions.folder import VersionFolder
from support.postgresql import Server

from .polled import Seen, observed, wait_for
from .processes import count, kill, running, wait_for_end, wait_until

pytestmark = [pytest.mark.spark]


def test_the_server_comes_and_goes(spark: SparkSession, postgresql: Server) -> None:
    """The same rows are there after it was stopped, on the same port."""
    postgresql.run("create table kept (ad int, name text); insert into kept values (1)")
    before = postgresql.pid
    postgresql.stop()
    assert before is not None
    with pytest.raises(ProcessLookupError):
        os.kill(before, signal.SIG_DFL)
    postgresql.start()
    read = spark.read.jdbc(postgresql.url, "kept", properties=postgresql.properties)
    assert list(map(tuple, read.collect())) == [(1, None)]
    assert postgresql.rows("select ad from kept") == [("1",)]


CHANGES = """
insert into pairs
    select n, n % 7, 'pair ' || n, random() from generate_series({a}, {b}) n;
delete from pairs where ad % 5 = {c};
update pairs set price = price + 1 where ad % 3 = {c};
"""


def make_table(server: Server) -> None:
    server.run(
        "drop table if exists pairs;"
        "create table pairs (ad int, campaign int, name text, price float8)"
    )


def change(server: Server, rng: random.Random, rounds: int) -> None:
    """Insert, delete and update, in a process of psql for each transaction."""
    for _ in range(rounds):
        first = rng.randrange(10_000)
        server.run(CHANGES.format(a=first, b=first + 20, c=rng.randrange(3)))
        time.sleep(0.3)


def test_changes_add_up_to_the_table(
    spark: SparkSession, postgresql: Server, tmp_path: Path
) -> None:
    """While others write, the database goes for some seconds, and the query restarts.

    Changes have seed 3.
    """
    rng, seen, log = random.Random(3), Seen(), tmp_path / "log"
    make_table(postgresql)
    change(postgresql, rng, 2)

    def read() -> DataFrame:
        properties = postgresql.properties
        return spark.read.jdbc(postgresql.url, "pairs", properties=properties)

    changes = polled_relation(
        read, log=log, every="300 milliseconds", stale_after="2 seconds"
    )
    try:
        query = seen.start(changes, tmp_path / "checkpoint")
        wait_for(lambda: bool(seen.batches))
        change(postgresql, rng, 4)
        postgresql.stop()
        wait_for(lambda: bool(VersionFolder(log).failure()))
        time.sleep(3)
        done, last = len(seen.batches), observed(log)
        time.sleep(2)
        assert (len(seen.batches), observed(log)) == (done, last)
        assert query.exception() is None
        postgresql.start()
        change(postgresql, rng, 3)
        query.stop()
        change(postgresql, rng, 2)
        ended_us = time.time_ns() // 1_000 + 300_000  # a reading may have begun before
        wait_for(lambda: observed(log) > ended_us)
        seen.catch_up(changes, tmp_path / "checkpoint")
    finally:
        stop_polling(log)
    assert seen.table() == {repr(tuple(row)) for row in read().collect()}
    assert len(seen.table()) > 50
    assert VersionFolder(log).last() > 5


TYPES = {
    "a": ("varchar(9)", "'ä'"),
    "b": ("char(3)", "'x'"),
    "c": ("numeric(10, 2)", "1.5"),
    "d": ("timestamptz", "'2024-05-01 12:00:00+02'"),
    "e": ("timestamp", "'2024-05-01 12:00:00'"),
    "f": ("date", "'2024-05-01'"),
    "g": ("uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"),
    "h": ("bytea", "'x'"),
    "i": ("boolean", "true"),
    "j": ("real", "'NaN'"),
    "k": ("smallint", "-1"),
    "l": ("jsonb", "'{}'"),
}


def test_types_of_the_database(
    spark: SparkSession, postgresql: Server, tmp_path: Path
) -> None:
    """Values of all kinds come through, and a second reading finds them the same."""
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    values = ", ".join(value for _, value in TYPES.values())
    nulls = ", ".join("null" for _ in TYPES)
    postgresql.run(f"create table kinds ({columns})")
    postgresql.run(f"insert into kinds values ({values}), ({nulls})")  # noqa: S608
    seen, log = Seen(), tmp_path / "log"

    def read() -> DataFrame:
        properties = postgresql.properties
        return spark.read.jdbc(postgresql.url, "kinds", properties=properties)

    changes = polled_relation(read, log=log, every="200 milliseconds")
    try:
        wait_for(lambda: observed(log) > 0)
        first = observed(log)
        wait_for(lambda: observed(log) > first)
        seen.catch_up(changes, tmp_path / "checkpoint")
    finally:
        stop_polling(log)
    assert VersionFolder(log).last() == 1
    assert seen.table() == {repr(tuple(row)) for row in read().collect()}
    assert len(seen.table()) == 2


@pytest.mark.long
def test_drivers_are_killed(
    spark: SparkSession, postgresql: Server, tmp_path: Path
) -> None:
    """Poller and query die together, while the table changes. Changes have seed 4."""
    rng = random.Random(4)
    make_table(postgresql)
    access = json.dumps({"url": postgresql.url, **postgresql.properties})
    for last in (False, False, True):
        with running(tmp_path, "spark.child_polled", DATABASE=access) as query:
            done = count(tmp_path, "commits")
            for _ in range(3):
                change(postgresql, rng, 2)
                wait_until(lambda: count(tmp_path, "commits") > done, query, tmp_path)  # noqa: B023
            if last:
                (tmp_path / "finish").touch()
                wait_for_end(query, tmp_path)
            else:
                time.sleep(rng.random())
                kill(query)
    written = spark.read.parquet(str(tmp_path / "results")).collect()
    seen = Seen()
    seen.batches[0] = sorted(map(tuple, written), key=_in_order)
    properties = postgresql.properties
    there = spark.read.jdbc(postgresql.url, "pairs", properties=properties).collect()
    assert seen.table() == {repr(tuple(row)) for row in there}
    assert VersionFolder(tmp_path / "versions").last() > 5


def _in_order(row: tuple[Any, ...]) -> tuple[float, bool]:
    *_, change, at = row
    return (0.0 if at is None else at.timestamp(), change == "insert")
