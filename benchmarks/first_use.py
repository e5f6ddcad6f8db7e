"""Seconds from the call to the first result on Spark, for the README's quickstart."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.console import note, progress
from benchmarks.record import Record

README = Path(__file__).parent.parent / "README.md"
CALL = "matches = sj.join("
SHOWN = 'spark.table("attributed").show(5)'


def run(*, quick: bool) -> Record:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (code,) = [block for block in blocks if CALL in block]
    timed = "import time, sys\nborn = time.perf_counter()\n" + code.replace(
        CALL, f"called = time.perf_counter()\n{CALL}"
    ).replace(SHOWN, "got = time.perf_counter()")
    timed += '\nprint("TIMES", called - born, got - called)\n'
    starts, waits = [], []
    with progress() as display:
        task = display.add_task("fresh processes", total=1 if quick else 3)
        for _ in range(1 if quick else 3):
            start, wait = _measure(timed)
            starts.append(start)
            waits.append(wait)
            note(f"session and streams {start:.1f} s, first result {wait:.1f} s")
            display.advance(task)
    figures = {
        "first_result_s": statistics.median(waits),
        "session_start_s": statistics.median(starts),
    }
    return Record("first-use", {"processes": len(waits)}, figures)


def _measure(code: str) -> tuple[float, float]:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("TIMES")]
    start, wait = map(float, line.split()[1:])
    return start, wait
