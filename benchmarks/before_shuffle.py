"""What dropping rows before they are packed and shuffled could save, on Spark.

Setting: rows wait for 5 s on both sides and have about 10 results each, which nobody
reads; micro-batches of 200 k rows. A throttle of 0.15 under ``CoinFlip`` drops rows
inside the join. The rival filters as many rows of both streams before the join, by a
hash: so would a decision that is taken where rows are packed. ``saved`` is the part of
the time of a micro-batch that the rival does without.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import shedjoin as sj
from benchmarks import engine
from benchmarks.bursts import SIDES, WAIT, Schedule, write_files
from benchmarks.record import Record
from shedjoin.policies import CoinFlip

SHARE, SEED, STEPS = 0.15, 7, 8


def run(*, quick: bool) -> Record:
    rounds, rate = (1, 1_000) if quick else (3, 40_000)
    steady = Schedule(before=STEPS * WAIT, burst=0, after=0, times=1.0)
    runs: dict[str, list[engine.Timing]] = {"inside": [], "before": []}
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        folder = Path(scratch, "streams")
        write_files(folder, steady, rate, SEED, seconds=WAIT, hidden=False)
        kept = 1.0
        for number in range(rounds):
            control = sj.Control(Path(scratch, f"control-{number}"))
            control.send(throttle={"share": SHARE, "update": 0.2, "match": 0.8})
            streams = _streams(spark, folder)
            runs["inside"].append(
                engine.run(_joined(streams, control), "inside", STEPS)
            )
            kept = _kept(runs["inside"][-1])
            some = [_part(stream, kept) for stream in _streams(spark, folder)]
            runs["before"].append(engine.run(_joined(some, None), "before", STEPS))
        spark.stop()
    seconds = {
        name: statistics.median(
            ms / 1000 for one in timings for ms in one.milliseconds[engine.WARM_UP :]
        )
        for name, timings in runs.items()
    }
    figures = {
        "kept": kept,
        **{f"{name}_s": took for name, took in seconds.items()},
        "saved": 1 - seconds["before"] / seconds["inside"],
    }
    sizes = {
        "rows": rate * WAIT,
        "share": SHARE,
        "rounds": rounds,
        "seed": SEED,
    }
    details = {name: [one.milliseconds for one in each] for name, each in runs.items()}
    return Record("before-shuffle", sizes, figures, details)


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
