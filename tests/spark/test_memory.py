"""What a shard holds in memory: not the window, the micro-batch or its results; no JVM.

It is the most that a process holds of memory which no file backs. A limit set by the
kernel would also count what Arrow's allocator sets aside, a gigabyte at a time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

MB = 10**6
TESTS = Path(__file__).parent.parent


@cache
def compile_first(*, budget: bool) -> None:
    """Compile the kernels where memory is not limited: numba keeps them in files.

    Compiling takes memory too, and only where nobody has compiled before.
    """
    with TemporaryDirectory() as folder:
        run(Path(folder), rows=(10, 10), budget=10 * budget)


def run(folder: Path, **task: Any) -> dict[str, int]:  # noqa: ANN401
    """Join in a process of its own; copies lie below the folder."""
    given = {"width": 200, "seed": 0, "key": None, "batches": 1, "limit": 0} | task
    if given["limit"]:
        compile_first(budget=bool(given.get("budget")))
    made = subprocess.run(
        [sys.executable, "-m", "spark.bounded", str(folder), json.dumps(given)],
        cwd=TESTS,
        env=os.environ | {"SPARK_LOCAL_DIRS": str(folder / "local")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    told: dict[str, int] = json.loads(made.stdout.splitlines()[-1])
    sys.stdout.write(f"{given}: {told}\n")
    assert told["anonymous"] < (given["limit"] or sys.maxsize)
    return told


def restore(folder: Path, state_mb: int, limit_mb: int) -> None:
    """Make a state, forget the copy, and go on from the state store alone."""
    batches = max(4, state_mb // 40)
    rows = state_mb * MB // 224 // 2 // batches
    run(folder, rows=(rows, rows), batches=batches)
    stored = sum(f.stat().st_size for f in (folder / "state").iterdir())
    assert stored > 0.9 * state_mb * MB
    shutil.rmtree(folder / "local")
    found = run(folder, rows=(rows, 10), limit=limit_mb * MB)
    assert (found["misses"], found["fallbacks"]) == (1, 0)
    assert found["results"] == 2 * 10 + rows  # the rows of the first micro-batch again


@pytest.mark.long
def test_restore_does_not_hold_the_window(tmp_path: Path) -> None:
    restore(tmp_path, state_mb=600, limit_mb=400)


@pytest.mark.long
def test_restore_of_two_gigabytes_in_600_mb(tmp_path: Path) -> None:
    restore(tmp_path, state_mb=2000, limit_mb=600)


def test_a_popular_key_does_not_hold_its_results(tmp_path: Path) -> None:
    found = run(tmp_path, rows=(1500, 1500), key=7, width=100, limit=350 * MB)
    assert found["results"] == 1500 * 1500
    assert found["bytes"] > 450 * MB
    assert found["fallbacks"] == 0


@pytest.mark.long
@pytest.mark.parametrize("budget", [0, 100_000], ids=["exact", "budget"])
def test_81_million_results_of_one_key(tmp_path: Path, budget: int) -> None:
    found = run(
        tmp_path, rows=(9000, 9000), key=7, width=8, budget=budget, limit=1000 * MB
    )
    assert found["results"] == 81_000_000
    assert found["fallbacks"] == 0


@pytest.mark.parametrize(
    "budget",
    [pytest.param(0, marks=pytest.mark.long), 2000],
    ids=["exact", "budget"],
)
def test_a_micro_batch_is_not_held(tmp_path: Path, budget: int) -> None:
    """Half a gigabyte of arrivals."""
    half = 1_100_000
    found = run(tmp_path, rows=(half, half), budget=budget, limit=550 * MB)
    assert found["fallbacks"] == 0


@pytest.mark.long
@pytest.mark.parametrize("budget", [0, 100_000], ids=["exact", "budget"])
def test_ten_million_rows_in_a_micro_batch(tmp_path: Path, budget: int) -> None:
    half = 5_000_000
    found = run(tmp_path, rows=(half, half), width=50, budget=budget, limit=1000 * MB)
    assert found["fallbacks"] == 0
