"""Executors and Python workers killed at random: results and state stay the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from shedjoin import Budget
from shedjoin.state.blobs import FACTS

from .clusters import SPECULATION, cluster, plan_kills
from .named_joins import JOINS, SHUFFLED, joined, locate, streams
from .processes import wait_for_end
from .queries import Counts, Run, finish, same, start
from .sources import Sources
from .states import decoded, stored, without_tokens

pytestmark = pytest.mark.spark

SAME_BYTES = True
"""Whether the blobs of the state must be equal byte by byte, but for tokens."""


def run_all(spark: SparkSession, sources: Sources, homes: dict[Path, str]) -> list[Run]:
    """Run joins side by side in the session of the tests, which nobody disturbs."""
    frames = {home: joined(spark, sources, name) for home, name in homes.items()}
    queries = {home: start(frame, home) for home, frame in frames.items()}
    return [finish(query, frames[home], home) for home, query in queries.items()]


def check(spark: SparkSession, folder: Path, seed: int, names: Sequence[str]) -> None:
    """Compare with undisturbed runs: results, state, and the results of going on."""
    sources = Sources(folder / "in")
    homes = {locate(folder, name): name.split()[-1] for name in names}
    calm = {home / "calm": name for home, name in homes.items()}
    for (home, name), expected in zip(
        homes.items(), run_all(spark, sources, calm), strict=True
    ):
        written = json.loads((home / "results.json").read_text())
        assert same(map(tuple, written["rows"]), expected.rows)
        assert len(expected.rows) > 1000
        if name not in SHUFFLED:  # of those Spark counts twice what is done twice
            assert counted(written["observed"]) == counted(expected.observed())
            check_budget(written["observed"], JOINS[name].get("budget"))
        compare_states(spark, home, home / "calm")
    batches = len(list((folder / "in" / "left").iterdir()))
    sources.write(streams(seed, batches + 1)[batches:], first=batches)
    for found, expected in zip(
        run_all(spark, sources, homes), run_all(spark, sources, calm), strict=True
    ):
        assert found.observed()[0]["matched"] > 100
        assert same(found.rows, expected.rows)


def check_budget(observed: list[Counts], budget: Budget | None) -> None:
    """All shards together hold at most the budget, in every micro-batch."""
    if budget is not None and budget.rows is not None:
        held = [each["resident_left"] + each["resident_right"] for each in observed]
        assert budget.rows // 2 < max(held) <= budget.rows


def counted(observed: list[Counts]) -> list[Counts]:
    """Counts without those that tell how a micro-batch was done."""
    own = ("copy_", "longest_chain", "written_bytes", "state_bytes", "max_state_bytes")
    return [
        {name: value for name, value in batch.items() if not name.startswith(own)}
        for batch in observed
    ]


def compare_states(spark: SparkSession, found: Path, calm: Path) -> None:
    blobs, expected = stored(spark, found), stored(spark, calm)
    assert sorted(blobs) == sorted(expected)
    for place in expected:
        if place[1] == FACTS:
            assert blobs[place] == expected[place], place
        else:
            assert decoded(blobs[place]) == decoded(expected[place]), place
    if SAME_BYTES:
        assert without_tokens(blobs) == without_tokens(expected)


def killed(
    spark: SparkSession, folder: Path, names: Sequence[str], batches: int, kills: int
) -> None:
    """Run joins on a cluster, kill, and check; the seeds are 11, 7 and 8."""
    Sources(folder / "in").write(streams(11, batches))
    with cluster(folder, *names) as made:
        made.strike(plan_kills(7, kills, len(names) * (batches - 2)), seed=8)
        wait_for_end(made.query, folder)
    check(spark, folder, 11, names)


def lost(folder: Path, why: str = "", what: str = "task") -> int:
    """Tasks or executors that failed or were given up, as Spark's log has it."""
    lines = (folder / "log").read_text(errors="replace").splitlines()
    return sum(f"Lost {what}" in line and why in line for line in lines)


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [("exact", "results"), ("harvest", "bounded")], ids="-".join
)
def test_a_few_kills(
    names: tuple[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    killed(spark, tmp_path, names, batches=4, kills=2)
    # Of so few, all may hit an executor in the moment in which its task has ended.
    assert lost(tmp_path) + lost(tmp_path, what="executor") >= 1


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [("exact", "results"), ("ijoin", "sample")], ids="-".join
)
def test_many_kills(
    names: tuple[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    killed(spark, tmp_path, names, batches=20, kills=15)
    assert lost(tmp_path) >= 7


@pytest.mark.long
@pytest.mark.parametrize("name", ["slow exact", "slow ijoin"])
def test_two_attempts_at_a_time(name: str, spark: SparkSession, tmp_path: Path) -> None:
    """First attempts dawdle, before the join or in it; Spark starts second ones."""
    Sources(tmp_path / "in").write(streams(12, 16))
    with cluster(tmp_path, name, master="hosts", **SPECULATION) as made:
        wait_for_end(made.query, tmp_path)
    assert lost(tmp_path, "TaskKilled") >= 6
    check(spark, tmp_path, 12, [name])
