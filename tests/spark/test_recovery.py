"""A query killed again and again writes what an uninterrupted one would."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from local.streams import START_US, Case, tables
from oracle.join import Row, exact_join

from . import child
from .sources import Sources

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[1]
BATCHES = 24
KILLS = 5
PATIENCE_S = 180
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


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The query in a session of its own, so that all of it can be found and ended."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(TESTS),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    with (folder / "log").open("ab") as log:
        query = subprocess.Popen(
            [sys.executable, "-m", "spark.child", str(folder)],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield query
    finally:
        kill(query)


def members(session: int, name: str = "") -> list[int]:
    """Processes of a session: the driver, its JVM, and the JVM's Python workers."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and name in " ".join(
                process.cmdline()
            ):
                found.append(process.pid)
        except (ProcessLookupError, psutil.Error):  # gone, or dead and not yet buried
            continue
    return found


def kill(query: subprocess.Popen[bytes]) -> int:
    """Kill every process of the query at once; return how many there were."""
    killed = 0
    while pids := members(query.pid):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed += len(pids)
        time.sleep(0.05)
    query.wait()
    return killed


def count(folder: Path, log: str) -> int:
    """Micro-batches planned (``offsets``) or done (``commits``)."""
    return sum(path.name.isdigit() for path in (folder / "checkpoint" / log).glob("*"))


def wait_until(
    ready: Callable[[], bool], query: subprocess.Popen[bytes], folder: Path
) -> None:
    """Wait while the query runs; it may neither end nor hang."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        text = (folder / "log").read_text(errors="replace")[-3000:]
        assert query.poll() is None, f"the query ended before it was killed: {text}"
        assert time.monotonic() < deadline, f"the query is stuck: {text}"
        time.sleep(0.02)


def moment(query: subprocess.Popen[bytes], folder: Path, number: int) -> None:
    """Wait for the moment of this kill.

    Every other one falls into the first micro-batch after a restart, when Python
    workers have started; the others some way into those that follow the first commit.
    """
    if number % 2:
        wait_until(lambda: bool(members(query.pid, DAEMON)), query, folder)
    else:
        done = count(folder, "commits")
        wait_until(lambda: count(folder, "commits") > done, query, folder)


def test_killed_and_restarted(tmp_path: Path) -> None:
    case = make_stream()
    Sources(tmp_path / "in").write(tables(case))
    rng = random.Random(7)
    interrupted = 0
    for number in range(KILLS):
        with running(tmp_path) as query:
            moment(query, tmp_path, number)
            time.sleep(rng.uniform(0, 1.2))
            assert query.poll() is None, "the query ended before it was killed"
            interrupted += count(tmp_path, "offsets") > count(tmp_path, "commits")
            assert kill(query) > 2  # driver, JVM and at least one Python worker
        assert not (tmp_path / "results.json").exists()
    assert interrupted > 0
    with running(tmp_path) as query:
        assert query.wait(PATIENCE_S) == 0, (tmp_path / "log").read_text()[-3000:]
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
