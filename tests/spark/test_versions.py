"""A checkpoint of the oldest supported PySpark goes on under the newest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from oracle.join import exact_join
from support.streams import tables

from .processes import TESTS
from .sources import Sources
from .test_recovery import BATCHES, make_stream

OLDEST = TESTS.parent / ".ci-venv-oldest" / "bin" / "python"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.newest_only,
    pytest.mark.skipif(
        not OLDEST.exists(), reason="make test-spark-oldest makes the environment"
    ),
]
PATIENCE_S = 300


def run_to_the_end(python: str, folder: Path) -> list[list[int]]:
    """Run the query until all files are read; return all results so far."""
    names = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    environment = {**os.environ, **dict.fromkeys(names, python)}
    environment["PYTHONPATH"] = str(TESTS)
    with (folder / "log").open("ab") as log:
        subprocess.run(
            [python, "-m", "spark.child", str(folder)],
            env=environment,
            stdout=log,
            stderr=log,
            check=True,
            timeout=PATIENCE_S,
        )
    found: list[list[int]] = json.loads((folder / "results.json").read_text())
    return found


@pytest.mark.long
def test_a_checkpoint_of_the_oldest_pyspark(tmp_path: Path) -> None:
    case = make_stream()
    batches = tables(case)
    half = BATCHES // 2
    sources = Sources(tmp_path / "in").write(batches[:half])
    first = run_to_the_end(str(OLDEST), tmp_path)
    sources.write(batches[half:], first=half)
    found = run_to_the_end(sys.executable, tmp_path)
    assert 0 < len(first) < len(found)
    expected = exact_join(
        case.batches,
        before_us=case.before_us,
        after_us=case.after_us,
        delays_ms=case.delays_ms,
    )
    pairs = Counter(
        (left.payload[0], right.payload[0])
        for batch in expected
        for left, right in batch.pairs
    )
    assert Counter(map(tuple, found)) == pairs
