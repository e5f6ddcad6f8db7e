"""Streams as Parquet files: one file per side and micro-batch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.console import progress

START_US = 1_700_000_000_000_000


@dataclass(frozen=True, slots=True)
class Stream:
    """Two streams of the same size: rows in time order, keys uniform."""

    rows: int
    files: int
    keys: int
    seconds: int
    seed: int

    def write(self, folder: Path) -> None:
        """Write ``folder/left`` and ``folder/right``."""
        rng = np.random.default_rng(self.seed)
        with progress() as display:
            task = display.add_task("writing streams", total=2 * self.files)
            for side in ("left", "right"):
                (folder / side).mkdir(parents=True)
                for number in range(self.files):
                    path = folder / side / f"{number:05d}.parquet"
                    pq.write_table(self.part(side, number, rng), path)
                    os.utime(path, (1_700_000_000 + number,) * 2)
                    display.advance(task)

    def part(self, side: str, number: int, rng: np.random.Generator) -> pa.Table:
        """Rows of one side and micro-batch."""
        size = self.rows // self.files
        span = self.seconds * 1_000_000 // self.files
        time = np.sort(rng.integers(0, span, size)) + number * span + START_US
        return pa.table(
            {
                "key": rng.integers(0, self.keys, size),
                f"{side}_time": pa.array(time, pa.timestamp("us", "UTC")),
                f"{side}_value": rng.random(size),
            }
        )


def first_files(folder: Path, count: int) -> Path:
    """Give a folder with the first files of both sides only."""
    part = folder / f"first-{count}"
    for side in ("left", "right"):
        (part / side).mkdir(parents=True)
        for path in sorted((folder / side).glob("*.parquet"))[:count]:
            os.link(path, part / side / path.name)
    return part
