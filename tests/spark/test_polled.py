"""A table that is read again and again: every change once, in order, whatever stops."""

from __future__ import annotations

import random
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  (Spark's own convention)

from shedjoin import polled_relation, stop_polling
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.versions.folder import VersionFolder
from shedjoin.versions.log import VersionLog

from .polled import Row, Seen, Table, as_set, observed, polled, wait_for

pytestmark = [pytest.mark.spark]

NAN, DAY = float("nan"), timedelta(days=1)


def some_rows(rng: random.Random) -> list[Row]:
    """Rows of few values, some of them twice."""
    names, prices = ["a", "b", None], [1.5, NAN, None]
    return [
        (rng.randrange(4), rng.choice(names), rng.choice(prices))
        for _ in range(rng.randrange(12))
    ]


def forget(checkpoint: Path, *logs: str) -> int:
    """Forget the last micro-batch, as if it had died before that was written."""
    last = max(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    for log in logs:
        (checkpoint / log / str(last)).unlink()
        (checkpoint / log / f".{last}.crc").unlink(missing_ok=True)
    return last


def test_every_change_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """By a query that dies before its commit, before its offsets, or not.

    Rows have seed 5.
    """
    rng, seen, log = random.Random(5), Seen(), tmp_path / "log"
    table, checkpoint = Table(spark, some_rows(rng)), tmp_path / "checkpoint"
    for number in range(5):
        with polled(table, log) as changes:
            for _ in range(rng.randrange(1, 3)):
                table.put(some_rows(rng), log)
            seen.catch_up(changes, checkpoint)
        assert seen.table() == as_set(list(dict.fromkeys(table.rows)))
        if number % 3 == 1:
            forget(checkpoint, "commits")
        elif number % 3 == 2:
            del seen.batches[forget(checkpoint, "commits", "offsets")]
    assert VersionFolder(log).last() > 5
    first = seen.batches[0][: len(next(VersionFolder(log).read(1, 1)))]
    assert {row[-2:] for row in first} == {("insert", None)}


def test_a_running_query_is_stopped_and_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The table changes while it runs; rows have seed 8."""
    rng, seen, log = random.Random(8), Seen(), tmp_path / "log"
    table = Table(spark, some_rows(rng))
    with polled(table, log) as changes:
        for _ in range(3):
            query = seen.start(changes, tmp_path / "checkpoint")
            before = len(seen.batches)
            for _ in range(3):
                table.put([*some_rows(rng), (9, "x", rng.random())], log)
            wait_for(lambda: len(seen.batches) > before)  # noqa: B023  (this round's)
            query.stop()
        seen.catch_up(changes, tmp_path / "checkpoint")
    assert seen.table() == as_set(list(dict.fromkeys(table.rows)))
    assert len(seen.batches) >= 3
    shutil.rmtree(log)  # the checkpoint goes on from versions of this folder
    with polled(table, log) as changes:
        query = seen.start(changes, tmp_path / "checkpoint")
        with pytest.raises(StreamingQueryException, match="is not the folder"):
            query.awaitTermination(60)


def test_a_query_waits_for_the_table(spark: SparkSession, tmp_path: Path) -> None:
    """Another source has rows meanwhile: nothing comes of them before it is back."""
    table, seen, log = Table(spark, [(1, "a", 1.0)]), Seen(), tmp_path / "log"
    (tmp_path / "in").mkdir()
    lines = spark.readStream.schema("ad int").json(str(tmp_path / "in"))
    with polled(table, log) as changes:
        both = changes.select("ad").unionAll(lines)
        query = seen.start(both, tmp_path / "checkpoint")
        wait_for(lambda: (1,) in seen.rows())
        table.away = True
        wait_for(lambda: "is away" in VersionFolder(log).failure())
        last = observed(log)
        wait_for(lambda: query.status["message"].startswith("Getting offsets"))
        query.awaitTermination(4)
        (tmp_path / "in" / "one.json").write_text('{"ad": 7}')
        query.awaitTermination(3)
        assert (7,) not in seen.rows()
        assert observed(log) == last
        assert query.exception() is None
        query.stop()  # while it waits
    with polled(table, log) as changes:  # a restart, with the database still away
        query = seen.start(
            changes.select("ad").unionAll(lines), tmp_path / "checkpoint"
        )
        query.awaitTermination(2)
        assert (7,) not in seen.rows()
        table.away = False
        wait_for(lambda: (7,) in seen.rows())
        query.stop()
    assert seen.rows() == [(1,), (7,)]


def test_it_fails_in_the_end(spark: SparkSession, tmp_path: Path) -> None:
    table, log = Table(spark, [(1, "a", 1.0)]), tmp_path / "log"
    with polled(table, log, timeout="1 second") as changes:
        wait_for(lambda: observed(log) > 0)
        table.away = True
        query = Seen().start(changes, tmp_path / "checkpoint")
        with pytest.raises(StreamingQueryException, match="the database is away"):
            query.awaitTermination(60)


def test_other_columns_stop_the_versions(spark: SparkSession, tmp_path: Path) -> None:
    table, log = Table(spark, [(1, "a", 1.0)]), tmp_path / "log"
    with polled(table, log):
        wait_for(lambda: observed(log) > 0)
        table.rows, table.columns = [(1, "a", 1)], "ad int, name string, price int"
        folder = VersionFolder(log)
        wait_for(lambda: "the table now has ad int" in folder.failure())
        table.rows, table.columns = [(2, "a", 1.0)], "ad int, name string, price double"
        wait_for(lambda: folder.last() == 2)
        wait_for(lambda: folder.failure() == "")


def test_a_second_driver_stands_by(spark: SparkSession, tmp_path: Path) -> None:
    """Another process has the folder at first; when it ends, this one takes over."""
    table, log = Table(spark, [(1, "a", 1.0)]), tmp_path / "log"
    with polled(table, log):
        wait_for(lambda: observed(log) > 0)
    other = VersionLog.acquire(VersionFolder(log))
    assert other is not None
    with polled(table, log):
        before, reads = observed(log), table.reads
        other_reads = table.read().toArrow()
        other.observe(other_reads, before + 1)
        assert table.reads == reads + 1
        other.close()
        wait_for(lambda: table.reads > reads + 1)
        table.put([(2, "b", None)], log)
    assert VersionFolder(log).last() == 2
    assert not stop_polling(log)


def test_a_call_replaces_the_poller(spark: SparkSession, tmp_path: Path) -> None:
    first, second = (Table(spark, [(n, "a", 1.0)]) for n in (1, 2))
    with polled(first, tmp_path / "log"):
        wait_for(lambda: observed(tmp_path / "log") > 0)
        polled_relation(second.read, log=tmp_path / "log", every="200 milliseconds")
        wait_for(lambda: second.reads > 1)
        reads = first.reads
        wait_for(lambda: second.reads > 4)
        assert first.reads == reads


def test_the_first_rows_may_have_a_time(spark: SparkSession, tmp_path: Path) -> None:
    table, seen = Table(spark, [(1, "a", 1.0), (1, "a", 1.0)]), Seen()
    names = {"change": "op", "at": "seen_at", "begin": "observed"}
    with polled(
        table, tmp_path / "log", timeout=timedelta(minutes=1), **names
    ) as changes:
        assert changes.columns == ["ad", "name", "price", "op", "seen_at"]
        query = seen.start(changes, tmp_path / "checkpoint", availableNow=True)
        assert query.awaitTermination(60)
    ((*row, change, at),) = seen.rows()
    assert (row, change) == ([1, "a", 1.0], "insert")
    assert at is not None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"every": "0 seconds"}, "every='0 seconds' is no time"),
        ({"stale_after": "1 second"}, "stale_after is 1 s"),
        ({"timeout": "-1 seconds"}, "timeout"),
        ({"change": "NAME"}, "'NAME'. are added"),
        ({"at": "Change"}, "are one name"),
        ({"begin": "never"}, "begin='never' is unknown"),
        ({"read": None}, "not a function"),
        ({"read": lambda: 5}, "gave 5, which is not a table"),
    ],
)
def test_what_is_refused(
    wrong: dict[str, Any], said: str, spark: SparkSession, tmp_path: Path
) -> None:
    read = wrong.pop("read", Table(spark, [(1, "a", 1.0)]).read)
    with pytest.raises(ParameterError, match=said):
        polled_relation(read, log=tmp_path / "log", **wrong)
    assert not stop_polling(tmp_path / "log")


def test_columns_that_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    for column in (F.array("id"), F.struct("id")):
        frame = spark.range(3).select("id", column.alias("x"))
        with pytest.raises(ColumnTypeError, match="column 'x' is of type"):
            polled_relation(lambda frame=frame: frame, log=tmp_path / "log")  # type: ignore[misc]
    twice = spark.range(3).select("id", "id")
    with pytest.raises(ParameterError, match="two have the same name"):
        polled_relation(lambda: twice, log=tmp_path / "log")
