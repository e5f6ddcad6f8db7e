"""What dropping rows before they are shuffled could save, on Spark.

Setting: rows wait for 5 s on both sides and have about 10 results each, which nobody
reads; micro-batches of 200 k rows. A throttle under ``CoinFlip`` drops rows inside the
join (``inside``). Two rivals drop as many rows of both streams earlier, by a hash:
where rows are packed, before they are encoded and shuffled (``packing``), and by a
filter of Spark, before they are given to Python (``filter``). ``saved`` is the part of
the time of a micro-batch that the first rival does without, at each share of the work.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import shedjoin as sj
from benchmarks import engine
from benchmarks.bursts import SIDES, WAIT, Schedule, write_files
from benchmarks.record import Record
from shedjoin.columns.mixing import mixed_bits
from shedjoin.policies import CoinFlip
from shedjoin.spark.wire import Packer

SHARES, SEED, STEPS = (0.15, 0.3, 0.5), 7, 8


class Dropping(Packer):
    """Packs only a part of the rows, chosen by a hash of their time."""

    def __init__(self, *args: Any, kept: float) -> None:  # noqa: ANN401
        super().__init__(*args)
        self.kept = kept

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Drop rows, and pack the others."""
        yield from super().__call__(self._some(batch) for batch in batches)

    def _some(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        time = batch.column(1).cast(pa.int64()).to_numpy().view(np.uint64)
        return batch.filter(mixed_bits(time) < np.uint64(self.kept * 2**63) * 2)


def run(*, quick: bool) -> Record:
    rounds, rate = (1, 1_000) if quick else (3, 40_000)
    shares = SHARES[:1] if quick else SHARES
    steady = Schedule(before=STEPS * WAIT, burst=0, after=0, times=1.0)
    figures: dict[str, float] = {}
    details = {}
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        folder = Path(scratch, "streams")
        write_files(folder, steady, rate, SEED, seconds=WAIT, hidden=False)
        for share in shares:
            kept, runs = _race(spark, folder, share, rounds)
            figures |= {f"kept_{share}": kept} | _figures(runs, share)
            details[str(share)] = {
                name: [one.milliseconds for one in each] for name, each in runs.items()
            }
        spark.stop()
    sizes = {"rows": rate * WAIT, "rounds": rounds, "seed": SEED}
    return Record("before-shuffle", sizes, figures, details)


def _race(
    spark: SparkSession, folder: Path, share: float, rounds: int
) -> tuple[float, dict[str, list[engine.Timing]]]:
    runs: dict[str, list[engine.Timing]] = {"inside": [], "packing": [], "filter": []}
    kept = 1.0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as messages:
            control = sj.Control(messages)
            control.send(throttle={"share": share, "update": 0.2, "match": 0.8})
            streams = _streams(spark, folder)
            joined = _joined(streams, control)
            runs["inside"].append(engine.run(joined, f"inside, {share}", STEPS))
        kept = _kept(runs["inside"][-1])
        # Not by attributes: the package has a function of the module's name.
        stages = sys.modules["shedjoin.spark.join"]
        with mock.patch.object(stages, "Packer", partial(Dropping, kept=kept)):
            joined = _joined(_streams(spark, folder), None)
        runs["packing"].append(engine.run(joined, f"packing, {share}", STEPS))
        some = [_part(stream, kept) for stream in _streams(spark, folder)]
        joined = _joined(some, None)
        runs["filter"].append(engine.run(joined, f"filter, {share}", STEPS))
    return kept, runs


def _figures(runs: dict[str, list[engine.Timing]], share: float) -> dict[str, float]:
    seconds = {
        name: statistics.median(
            ms / 1000 for one in timings for ms in one.milliseconds[engine.WARM_UP :]
        )
        for name, timings in runs.items()
    }
    took = {f"{name}_s_{share}": value for name, value in seconds.items()}
    inside = seconds["inside"]
    return took | {
        f"saved_{share}": 1 - seconds["packing"] / inside,
        f"saved_by_filter_{share}": 1 - seconds["filter"] / inside,
    }


def _kept(timing: engine.Timing) -> float:
    """Part of the rows that the join has stored, once the throttle was in force."""
    counts = timing.counts[engine.WARM_UP :]
    stored, seen = (
        sum(step[f"{name}_{side}"] for step in counts for side in SIDES)
        for name in ("stored", "seen")
    )
    return stored / seen


def _streams(spark: SparkSession, folder: Path) -> list[DataFrame]:
    return [engine.source(spark, folder, side, 1, "2 seconds") for side in SIDES]


def _part(stream: DataFrame, kept: float) -> DataFrame:
    digest = F.xxhash64(*stream.columns)
    return stream.where(F.abs(digest % 1_000_000) < kept * 1e6)


def _joined(streams: list[DataFrame], control: sj.Control | None) -> DataFrame:
    span = f"{WAIT} seconds"
    return sj.join(
        *streams,
        on="key",
        within=sj.Within(before=span, after=span),
        budget=sj.Budget(rows=1 << 40),  # a throttle needs one; it never sheds
        keep=CoinFlip(),
        control=control,
    )
