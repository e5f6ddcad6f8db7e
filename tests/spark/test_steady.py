"""Fed twenty times its budget, a query stays as small as at the beginning."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import shedjoin
from shedjoin import Budget, Within

from .frames import TIMES, as_streams
from .queries import run
from .sources import Sources

pytestmark = [pytest.mark.spark, pytest.mark.long]

BATCHES = 30
MEMORY = 8_000_000
ROWS = 12_000
"""Rows of 250 bytes: a micro-batch of both sides is two thirds of the budget."""
WORKER_BYTES = 420_000_000
"""What a Python worker takes that has pyarrow, pandas and numba loaded, joins one
micro-batch and gathers its results."""


def streams() -> list[tuple[pa.Table, pa.Table]]:
    rng = np.random.default_rng(11)
    letters = rng.integers(97, 123, 1 << 20, np.uint8).tobytes().decode()
    made = []
    for number in range(BATCHES):
        time = 1_700_000_000_000_000 + 10_000_000 * number
        sides = []
        for name in TIMES:
            start = rng.integers(0, len(letters) - 220, ROWS)
            at = time + np.sort(rng.integers(0, 10_000_000, ROWS))
            columns = {
                "k": rng.integers(0, 20_000, ROWS),
                name: pa.array(at, pa.timestamp("us", "UTC")),
                f"{name}_note": [letters[a : a + 220] for a in start],
            }
            sides.append(pa.table(columns))
        made.append((sides[0], sides[1]))
    return made


class Sample(NamedTuple):
    """Greatest Python worker and RocksDB's files, in bytes."""

    worker: int
    disk: int


@contextmanager
def watched(folder: Path) -> Iterator[list[Sample]]:
    """Look at workers and files several times a second while the block runs."""
    samples: list[Sample] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.25):
            samples.append(Sample(max(worker_sizes(), default=0), on_disk(folder)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def worker_sizes() -> Iterator[int]:
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "pyspark.daemon" in process.cmdline():
                yield process.memory_info().rss


def on_disk(folder: Path) -> int:
    """Bytes of RocksDB's own files; a snapshot links to them, and takes no more."""
    sizes = {}
    for parent, _, names in os.walk(folder):  # passes over folders that have gone
        for name in names:
            with suppress(OSError):  # gone by now
                if name.endswith((".sst", ".log")):
                    found = Path(parent, name).stat()
                    sizes[found.st_dev, found.st_ino] = found.st_size
    return sum(sizes.values())


@pytest.fixture
def small_buffers(spark: SparkSession) -> Iterator[None]:
    """Let RocksDB write and compact often: by default it first collects 64 MB."""
    setting = "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB"
    spark.conf.set(setting, "2")
    yield
    spark.conf.unset(setting)


@pytest.mark.usefixtures("small_buffers")
def test_twenty_times_the_budget(spark: SparkSession, tmp_path: Path) -> None:
    sent = streams()
    assert sum(table.nbytes for pair in sent for table in pair) > 20 * MEMORY
    sources = Sources(tmp_path / "in").write(sent)
    joined = shedjoin.join(
        *as_streams(sources.read(spark), delay="5 seconds"),
        on="k",
        within=Within(before="10 minutes", after="10 minutes"),
        budget=Budget(memory=MEMORY),
    ).select("k")
    local = Path(str(spark.conf.get("spark.local.dir")))
    # Workers and files of queries before this one may still be there.
    before = Sample(max(worker_sizes(), default=0), on_disk(local))
    with watched(local) as samples:
        found = run(joined, tmp_path / "out")
    state = [counts["state_bytes"] for counts in found.observed()]
    assert len(state) >= BATCHES
    assert max(state) <= MEMORY
    full = state[5:BATCHES]
    assert min(full) > 0.5 * MEMORY
    assert max(full) < 1.3 * min(full)
    early, late = (
        samples[len(samples) * part // 3 : len(samples) * (part + 1) // 3]
        for part in (1, 2)
    )
    # All that was written is over 15 times the budget; what RocksDB holds of it, by its
    # own count after each micro-batch, stays what it was when the budget was reached.
    assert found.total("written_bytes") > 15 * MEMORY
    held = [
        batch["stateOperators"][0]["customMetrics"]["rocksdbSstFileSize"]
        for batch in found.progress[5:BATCHES]
    ]
    half = len(held) // 2
    assert max(held[half:]) < 1.4 * max(held[:half]), held
    # Between two commits files of the last versions lie beside them.
    assert max(sample.disk for sample in samples) < before.disk + 7 * MEMORY
    worker = [max(sample.worker for sample in some) for some in (early, late)]
    assert worker[1] < MEMORY + max(WORKER_BYTES, before.worker), worker
    assert worker[1] < worker[0] + 30_000_000, worker
