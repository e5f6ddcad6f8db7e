"""Files of a burst, and the process that offers them in time.

``python -m benchmarks.bursts FOLDER`` moves the files that ``write_files`` has made
into the sources, each when its time has come.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.console import progress
from benchmarks.streams import START_US

STEP, RESULTS, WAIT = 0.5, 10, 5
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Seconds at the usual rate, at so many times of what can be joined, and after."""

    before: float
    burst: float
    after: float
    times: float

    @property
    def seconds(self) -> float:
        return self.before + self.burst + self.after

    def rate(self, usual: float, at: float) -> float:
        """Rows per second; the usual rate is half of what can be joined."""
        high = self.before <= at < self.before + self.burst
        return 2 * self.times * usual if high else usual

    def rows(self, usual: float, until: float) -> float:
        """Rows that have been offered until then."""
        low = min(until, self.before) + max(0.0, until - self.before - self.burst)
        high = min(max(0.0, until - self.before), self.burst)
        return usual * low + 2 * self.times * usual * high


def write_files(
    folder: Path,
    schedule: Schedule,
    usual: float,
    seed: int,
    *,
    seconds: float = STEP,
    hidden: bool = True,
) -> None:
    """Write the files of both sides, beside the sources or into them.

    There are as many keys as give each row about 10 results at the rate of its time.
    """
    rng = np.random.default_rng(seed)
    count = int(schedule.seconds / seconds)
    with progress() as display:
        task = display.add_task("writing streams", total=count)
        for side in SIDES:
            (folder / side).mkdir(parents=True)
            (folder / f"{side}-coming").mkdir()
        for number in range(count):
            rate = schedule.rate(usual, number * seconds) / len(SIDES)
            for side in SIDES:
                place = folder / (f"{side}-coming" if hidden else side)
                table = _part(side, number * seconds, seconds, rate, rng)
                pq.write_table(table, place / f"{number:05d}.parquet")
            display.advance(task)
    (folder / "schedule.json").write_text(json.dumps({"seconds": seconds}))


def _part(
    side: str, start: float, seconds: float, rate: float, rng: np.random.Generator
) -> pa.Table:
    size = int(rate * seconds)
    time_us = np.sort(rng.integers(0, int(1e6 * seconds), size))
    time_us += START_US + int(1e6 * start)
    keys = max(1, int(rate * WAIT / RESULTS))
    return pa.table(
        {
            "key": rng.integers(0, keys, size),
            f"{side}_time": pa.array(time_us, pa.timestamp("us", "UTC")),
            f"{side}_value": rng.random(size),
        }
    )


def offer(folder: Path) -> None:
    """Move files into the sources as time passes."""
    seconds = json.loads((folder / "schedule.json").read_text())["seconds"]
    started = time.monotonic()
    paths = sorted((folder / "left-coming").glob("*.parquet"))
    for number, path in enumerate(paths):
        due = started + (number + 1) * seconds
        time.sleep(max(0.0, due - time.monotonic()))
        for side in SIDES:
            (folder / f"{side}-coming" / path.name).rename(folder / side / path.name)


if __name__ == "__main__":
    offer(Path(sys.argv[1]))
