"""A join through a relation that lives in PostgreSQL, while others write to it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import shedjoin as sj
from docs.pages import blocks
from shedjoin.versions.folder import VersionFolder
from support.postgresql import Server

from .processes import Query, kill, members, running, wait_for_end, wait_until
from .related_rows import STALE_S, Writers, check_readings, facts_of, versions

pytestmark = pytest.mark.spark

CHILD = "spark.child_database"
AWAY_S, HELD_S = 30, 10


@pytest.mark.long
def test_a_relation_in_a_database(postgresql: Server, tmp_path: Path) -> None:
    """The query is killed twice, and the database is away for half a minute. Seed 6.

    Others write rows and change the table all the time.
    """
    writers = Writers(tmp_path / "in", postgresql, seed=6)
    access = json.dumps({"url": postgresql.url, **postgresql.properties})
    with writers.working():
        with running(tmp_path, CHILD, DATABASE=access) as query:
            wait_for_a_commit(query, tmp_path)
            kill_within_a_micro_batch(query, tmp_path)
        with running(tmp_path, CHILD, DATABASE=access) as query:
            wait_for_a_commit(query, tmp_path)
            with writers.without_database():
                wait_without_database(query, tmp_path)
            wait_for_a_commit(query, tmp_path)
            kill_within_a_micro_batch(query, tmp_path)
        with running(tmp_path, CHILD, DATABASE=access) as query:
            time.sleep(2)  # the table still changes
            writers.stop()
            (tmp_path / "finish").touch()
            wait_for_end(query, tmp_path)
    read = versions(tmp_path / "versions")
    check_readings(read, writers.held())
    facts = facts_of(read)
    expected = writers.joined(facts)
    found = json.loads((tmp_path / "results.json").read_text())
    assert Counter(map(tuple, found)) == expected
    assert expected.total() > 2_000
    assert sum(fact.end < inf for own in facts.values() for fact in own) > 30


def newest(folder: Path, log: str) -> int:
    """The last micro-batch planned (``offsets``) or done (``commits``)."""
    names = (path.name for path in (folder / "checkpoint" / log).glob("[0-9]*"))
    return max((int(name) for name in names if name.isdigit()), default=-1)


def is_within(folder: Path) -> bool:
    """Whether a micro-batch is planned and not done."""
    return newest(folder, "offsets") > newest(folder, "commits")


def wait_for_a_commit(query: Query, folder: Path) -> None:
    """Wait until one more micro-batch is done."""
    done = newest(folder, "commits")
    wait_until(lambda: newest(folder, "commits") > done, query, folder)


def kill_within_a_micro_batch(query: Query, folder: Path) -> None:
    """Kill a query for which a micro-batch is planned that is not done."""
    while True:
        wait_until(lambda: is_within(folder), query, folder)
        send(query, signal.SIGSTOP)  # it may just be done with it
        if is_within(folder):
            break
        send(query, signal.SIGCONT)
    assert kill(query)
    assert is_within(folder)


def send(query: Query, number: signal.Signals) -> None:
    """Send a signal to all processes of a query; workers may end meanwhile."""
    for process in members(query.pid):
        with suppress(ProcessLookupError):
            os.kill(process, number)


def wait_without_database(query: Query, folder: Path) -> None:
    """No micro-batch begins that could miss a change; nor does the query fail."""
    gone, log = time.monotonic(), VersionFolder(folder / "versions")

    def is_stale() -> bool:
        last = log.observed()
        return last is not None and time.time() - last.clock_us / 1e6 > STALE_S

    wait_until(lambda: bool(log.failure()) and is_stale(), query, folder)
    time.sleep(3)  # one that was asked for before may begin
    wait_until(lambda: not is_within(folder), query, folder)
    begun, held = newest(folder, "offsets"), time.monotonic()
    until = max(gone + AWAY_S, held + HELD_S)
    while time.monotonic() < until:
        assert query.poll() is None, "the query ended while it waited"
        assert newest(folder, "offsets") == begun
        time.sleep(0.1)


def test_the_page(spark: SparkSession, postgresql: Server, tmp_path: Path) -> None:
    star, limited, alone, polled, stop = blocks(
        "docs/how-to/join-through-a-relation.md"
    )
    postgresql.run("drop table if exists ads; create table ads (ad int, campaign int)")
    page: dict[str, Any] = {
        "spark": spark,
        "url": postgresql.url,
        "properties": postgresql.properties,
        "folder": tmp_path / "log",
    }
    for name, key in (("shown", "ad"), ("clicked", "campaign")):
        bid = ", bid double" * (name == "shown")
        reader = spark.readStream.schema(f"{name}_at timestamp, {key} int{bid}")
        (tmp_path / name).mkdir()
        rows = reader.parquet(str(tmp_path / name))
        page[name] = rows.withWatermark(f"{name}_at", "1 minute")
    for block in (polled, star, limited, alone, stop):
        exec(block, page)  # noqa: S102  (our own page)
    assert page["changes"].columns[-2:] == ["change", "at"]
    assert page["shown_and_clicked"].columns == [
        *("shown_at", "ad", "bid", "clicked_at", "campaign")
    ]
    assert page["dearest"].columns == page["shown_and_clicked"].columns
    assert page["shown_with_campaign"].columns == ["shown_at", "ad", "bid", "campaign"]
    assert not sj.stop_polling(tmp_path / "log")
