"""A query that sheds, killed again and again, writes what an undisturbed one would."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from .logs import micro_batches
from .named_joins import locally, locate, streams
from .processes import Query, count, kill, members, running, wait_for_end, wait_until
from .queries import same
from .sources import Sources

pytestmark = [pytest.mark.spark, pytest.mark.long]

BATCHES = 16
KILLS = 8
DAEMON = "pyspark.daemon"


def moment(query: Query, folder: Path, name: str, number: int) -> None:
    """Wait for the moment of this kill.

    Every other one falls into the first micro-batch after a restart, when Python
    workers have started; the others some way into those that follow the first commit.
    """
    home = locate(folder, name)
    if number % 2:
        wait_until(lambda: bool(members(query.pid, DAEMON)), query, folder)
    else:
        done = count(home, "commits")
        wait_until(lambda: count(home, "commits") > done, query, folder)


@pytest.mark.parametrize("name", ["results", "sample", "harvest", "bounded"])
def test_killed_and_restarted(name: str, tmp_path: Path) -> None:
    """The streams have seed 21, the moments of the kills seed 9."""
    sent = streams(21, BATCHES)
    Sources(tmp_path / "in").write(sent)
    home, rng, interrupted = locate(tmp_path, name), random.Random(9), 0
    child = "spark.child_joins", "local[2]", "{}", name
    for number in range(KILLS):
        with running(tmp_path, *child) as query:
            moment(query, tmp_path, name, number)
            time.sleep(rng.uniform(0, 1.2))
            assert query.poll() is None, "the query ended before it was killed"
            interrupted += count(home, "offsets") > count(home, "commits")
            assert kill(query) > 2  # driver, JVM and at least one Python worker
        assert not (home / "results.json").exists()
    assert interrupted > 0
    with running(tmp_path, *child) as query:
        wait_for_end(query, tmp_path)
    found = json.loads((home / "results.json").read_text())
    read = micro_batches(home / "checkpoint", sent)
    assert sum(left.num_rows for left, _ in read) == sum(a.num_rows for a, _ in sent)
    assert same(map(tuple, found["rows"]), locally(read, name))
    assert len(found["rows"]) > 1000
