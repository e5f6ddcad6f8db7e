"""A local disk that is really full, at every write: rows and state are as usual."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from shedjoin import Budget
from shedjoin.policies import EqCluster, Prob
from shedjoin.policies.goals import shedding_of
from shedjoin.spec.streams import JoinSpec
from support.streams import make_case

from .operators import Moment, Operator, arrivals_of, spec_of
from .queries import same

pytestmark = [
    pytest.mark.newest_only,
    pytest.mark.skipif(
        find_spec("pyspark.sql.streaming.tws_tester") is None,
        reason="TwsTester came with PySpark 4.2",
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root"),
]

CASE = make_case(554)
KINDS = {"exact": None, "budget": Prob(), "sample": EqCluster()}
CI_AND_LONG = [
    "budget",
    pytest.param("exact", marks=pytest.mark.long),
    pytest.param("sample", marks=pytest.mark.long),
]
PAGE = 4096
STEP = 7  # pages; what a shard has learned takes some hundreds of them


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, whose size can be set."""
    folder = tmp_path / "small"
    folder.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder)
    try:
        yield folder
    finally:
        run("umount", "-l", folder)


def make_spec(kind: str) -> JoinSpec:
    policy = KINDS[kind]
    budget = None if policy is None else Budget(rows=12)
    shedding = shedding_of(budget, policy)
    return spec_of(CASE).with_shedding(shedding)


def play(spec: JoinSpec) -> list[Moment]:
    return Operator(spec).play(arrivals_of(CASE)[:4])


@pytest.mark.parametrize("kind", CI_AND_LONG)
def test_at_every_size(
    kind: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a disk on which nothing fits to one on which all does, in small steps."""
    spec = make_spec(kind)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "large"))
    usual = play(spec)
    assert sum(moment.fallbacks for moment in usual) == 0
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(small))
    fallbacks = set()
    for pages in range(1, 2000, STEP):
        run("mount", "-o", f"remount,size={PAGE * pages}", small)
        found = play(spec)
        for one, other in zip(found, usual, strict=True):
            assert same(one.results, other.results), pages
            assert one.state == other.state, pages
        fallbacks.add(sum(moment.fallbacks for moment in found))
        for left in small.iterdir():
            shutil.rmtree(left)
        if 0 in fallbacks:
            break
    assert len(fallbacks) > 2
    assert 0 in fallbacks
