"""A burst on Spark, three times what the machine can join, with and without a budget.

Setting: rows wait for 5 s on both sides and have about 10 results each; a trigger of
5 s. Every result is written as JSON and signed with SHA-256, as if it were published;
results that cost nothing could not be saved. First it is measured how many rows per
second the join without a budget can do. Then another process moves files into the
sources at half of that, for two minutes at three times of it, and at half of it again.
The join without a CPU budget falls behind; the one with it keeps the time of its
micro-batches.

``overshoot`` is the greatest time of a micro-batch in the second half of the burst, as
part of the target; ``adaptations`` are the messages until the time stays within 15 % of
it; ``recovered`` says whether the throttle is open and recall back at the end; ``gain``
is what shedding by value is worth then, see ``benchmarks.gain``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

import shedjoin as sj
from benchmarks import engine
from benchmarks.bursts import SIDES, WAIT, Schedule, write_files
from benchmarks.console import note, progress
from benchmarks.gain import gains
from benchmarks.record import Record
from shedjoin.lab.plan import Costs

TRIGGER, CPU, SEED = 5, 0.7, 7
NEAR = 1.15
FULL = Schedule(before=40, burst=120, after=80, times=3.0)
QUICK = Schedule(before=10, burst=15, after=10, times=1.5)


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-batch."""

    start: float
    seconds: float
    rows: int
    behind: float
    share: float
    matched: int
    recall: float
    messages: int


def run(*, quick: bool) -> Record:
    schedule = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        # Also when it is quick: the first micro-batch of a session takes its time.
        able = _able(spark, Path(scratch), *((5_000.0, 1) if quick else (40_000.0, 3)))
        able = min(able, 5_000.0) if quick else able
        note(f"can join {able:,.0f} rows/s")
        runs = {}
        for name in ("without", "with"):
            folder = Path(scratch, name)
            runs[name] = _offered(spark, folder, schedule, able, name)
        costs = _costs(sj.Control(folder / "control"))
        spark.stop()
    target = CPU * TRIGGER
    figures = {"rows_per_s": able, "target_s": target}
    figures |= _without(runs["without"], schedule) | _with(runs["with"], schedule)
    share, windows = min(figures["share"], 0.9), 12 if quick else 60
    figures |= gains(share, costs, windows=windows, seed=SEED)
    sizes = {
        "trigger_s": TRIGGER,
        "window_s": WAIT,
        "cpu": CPU,
        "burst_s": schedule.burst,
        "times": schedule.times,
        "seed": SEED,
    }
    details = {name: [vars_of(step) for step in steps] for name, steps in runs.items()}
    return Record("burst", sizes, figures, details)


def _costs(control: sj.Control) -> Costs:
    """What a stored row and a result cost, as the driver has learned."""
    [join] = control.joins()
    learned = control.load(join)["costs"]
    # Never nothing at all: shares of no work are no measure.
    return Costs(*(max(learned[name], 1e-9) for name in ("update", "match")))


def vars_of(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__slots__}


def _able(spark: SparkSession, scratch: Path, rows: float, attempts: int) -> float:
    """Rows per second that the join without a budget can do, in batches of 5 s."""
    for attempt in range(attempts):
        place = scratch / "able" / str(attempt)
        steady = Schedule(before=8 * TRIGGER, burst=0, after=0, times=1.0)
        write_files(place, steady, rows, SEED, seconds=TRIGGER, hidden=False)
        frame = _joined(spark, place, None, files=1)
        timing = engine.run(frame, "what it can do", 8)
        rate = engine.rate([timing])
        if 0.7 <= rate / rows <= 1.4:
            break
        rows = rate
    return rate


def _joined(
    spark: SparkSession, folder: Path, control: sj.Control | None, files: int = 1000
) -> DataFrame:
    left, right = (
        engine.source(spark, folder, side, files, "2 seconds") for side in SIDES
    )
    span = f"{WAIT} seconds"
    results = sj.join(
        left,
        right,
        on="key",
        within=sj.Within(before=span, after=span),
        budget=None if control is None else sj.Budget(cpu=CPU),
        control=control,
    )
    text = F.to_json(F.struct("*"))
    return results.select(text.alias("text"), F.sha2(text, 256).alias("signed"))


def _offered(
    spark: SparkSession, folder: Path, schedule: Schedule, able: float, name: str
) -> list[Step]:
    """Run a query while another process offers files."""
    write_files(folder, schedule, able / 2, SEED)
    control = sj.Control(folder / "control") if name == "with" else None
    query = (
        _joined(spark, folder, control)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime=f"{TRIGGER} seconds")
        .start()
    )
    call = [sys.executable, "-m", "benchmarks.bursts", str(folder)]
    offering = subprocess.Popen(call)
    started = time.time()
    try:
        with progress() as display:
            task = display.add_task(f"{name} a CPU budget", total=schedule.seconds)
            # Without a budget, the end of the burst is enough to see.
            until = schedule.seconds if control else schedule.before + schedule.burst
            while (passed := time.time() - started) < until and query.isActive:
                display.update(task, completed=int(passed))
                time.sleep(1)
        return _steps(query, schedule, able / 2, started)
    finally:
        query.stop()
        offering.terminate()
        offering.wait()


def _steps(
    query: StreamingQuery, schedule: Schedule, usual: float, started: float
) -> list[Step]:
    found, done, messages, share = [], 0, 0, 1.0
    for p in query.recentProgress:
        counts = p["observedMetrics"].get("shedjoin")
        if not p["numInputRows"] or counts is None:
            continue
        told = counts.asDict()
        rows = told["seen_left"] + told["seen_right"]
        done += rows
        seconds = p["durationMs"]["triggerExecution"] / 1000
        start = engine.moment(p["timestamp"]) - started
        record = engine.record_of(told)
        now = record.get("in_force", {}).get("throttle", {}).get("share", 1.0)
        messages += now != share
        share = now
        behind = schedule.rows(usual, start + seconds) - done
        found.append(
            Step(
                *(round(start, 2), seconds, rows, round(behind), share),
                matched=told["matched"],
                recall=told["recall"],
                messages=messages,
            )
        )
    return found


def _without(steps: list[Step], schedule: Schedule) -> dict[str, float]:
    """How time and backlog have grown by the end of the burst."""
    usual = [step for step in steps if step.start < schedule.before]
    last = steps[-1]
    return {
        "without_seconds": last.seconds,
        "without_growth": last.seconds / max(step.seconds for step in usual),
        "without_behind_rows": last.behind,
    }


def _with(steps: list[Step], schedule: Schedule) -> dict[str, Any]:
    target = CPU * TRIGGER
    end = schedule.before + schedule.burst
    burst = [step for step in steps if schedule.before <= step.start < end]
    late = [
        step for step in burst if step.start >= schedule.before + schedule.burst / 2
    ]
    settled = 0
    for place, step in enumerate(burst):
        if step.seconds > NEAR * target:
            settled = place + 1
    reached = burst[settled].messages if settled < len(burst) else -1
    before = [step for step in steps if step.start < schedule.before]
    last = steps[-1]
    return {
        "overshoot": max((step.seconds for step in late), default=0.0) / target,
        "adaptations": reached - (before[-1].messages if before else 0),
        "behind_rows": max((step.behind for step in late), default=0),
        "share": late[-1].share if late else 1.0,
        "recall": late[-1].recall if late else 1.0,
        "recovered": last.share == 1.0 and last.recall > 0.99,
    }
