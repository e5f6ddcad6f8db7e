"""A query killed again and again writes what an uninterrupted one would."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from oracle.join import Row, exact_join
from support.streams import START_US, Case, tables

from . import child
from .processes import Query, count, kill, members, running, wait_for_end, wait_until
from .sources import Sources

pytestmark = pytest.mark.spark

BATCHES = 24
CHILD = "spark.child"
DAEMON = "pyspark.daemon"
"""Runs the Python workers; it leaves the process group of the JVM."""


def make_stream() -> Case:
    """Rows that move by 4 s a batch, out of order by up to 12 s, and some an hour late.

    Nothing in between: a file stream that is killed between its own log and the
    query's puts two files into one micro-batch, and a restarted query has forgotten how
    far each side was. What is just late in one run may be just in time in another, in
    Spark's own join as well.
    """
    rng = random.Random(20)
    batches = [(rows(rng, number), rows(rng, number)) for number in range(BATCHES)]
    return Case(
        seed=20,
        batches=batches,
        before_us=child.WINDOW.before_us,
        after_us=child.WINDOW.after_us,
        delays_ms=(15_000, 15_000),
        key_kind="int64",
        shards=2,
    )


def rows(rng: random.Random, number: int) -> list[Row]:
    """One side of a micro-batch."""
    seconds = [
        4 * number + rng.uniform(0, 4) - rng.choice([0, 0, 0, rng.uniform(0, 12)])
        for _ in range(rng.choice([0, 20, 40, 90]))
    ]
    if number > BATCHES // 2:
        seconds += [-3600, -3600]
    return [
        Row((rng.randrange(12),), START_US + round(1e6 * s), (100 * number + n, n))
        for n, s in enumerate(seconds)
    ]


def moment(query: Query, folder: Path, number: int) -> None:
    """Wait for the moment of this kill.

    Every other one falls into the first micro-batch after a restart, when Python
    workers have started; the others some way into those that follow the first commit.
    """
    if number % 2:
        wait_until(lambda: bool(members(query.pid, DAEMON)), query, folder)
    else:
        done = count(folder, "commits")
        wait_until(lambda: count(folder, "commits") > done, query, folder)


@pytest.mark.long
@pytest.mark.parametrize("kills", [2, 8])
def test_killed_and_restarted(kills: int, tmp_path: Path) -> None:
    case = make_stream()
    Sources(tmp_path / "in").write(tables(case))
    rng = random.Random(7)
    interrupted = 0
    for number in range(kills):
        with running(tmp_path, CHILD) as query:
            moment(query, tmp_path, number)
            time.sleep(rng.uniform(0, 1.2))
            assert query.poll() is None, "the query ended before it was killed"
            interrupted += count(tmp_path, "offsets") > count(tmp_path, "commits")
            assert kill(query) > 2  # driver, JVM and at least one Python worker
        assert not (tmp_path / "results.json").exists()
    assert interrupted > 0
    with running(tmp_path, CHILD) as query:
        wait_for_end(query, tmp_path)
    found = json.loads((tmp_path / "results.json").read_text())
    expected = exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    pairs = [pair for batch in expected for pair in batch.pairs]
    assert Counter(map(tuple, found)) == Counter(
        (left.payload[0], right.payload[0]) for left, right in pairs
    )
    assert len(pairs) > 1000
    assert sum(batch.late_left + batch.late_right for batch in expected) > 20
