"""Cost of a micro-batch when the window is 16 times longer.

The same arrival rate, and 16 times as many keys with the long window, so that both
joins give about the same number of results. Only micro-batches after the long window
has filled are compared; the two queries run in turns within one session.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks import engine
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.streams import Stream

FACTOR = 16
SECONDS_PER_FILE = 60
FULL = Stream(rows=6_400_000, files=32, keys=100_000, seconds=1920, seed=11)
QUICK = Stream(rows=40_000, files=20, keys=1_000, seconds=1200, seed=11)


def run(*, quick: bool) -> Record:
    stream = QUICK if quick else FULL
    rounds = 1 if quick else 2
    windows = {"short": 45, "long": 45 * FACTOR}
    filled = FACTOR * 45 // SECONDS_PER_FILE + 2
    timings: dict[str, list[engine.Timing]] = {name: [] for name in windows}
    with tempfile.TemporaryDirectory() as scratch:
        for name, keys in (("short", stream.keys), ("long", FACTOR * stream.keys)):
            replace(stream, keys=keys).write(Path(scratch, name))
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        for number in range(rounds):
            for name, seconds in windows.items():
                frame = engine.ours(spark, Path(scratch, name), seconds)
                label = f"round {number + 1}: {name} window"
                timing = engine.run(frame, label, stream.files)
                timings[name].append(timing)
                note(f"{label}: {timing.milliseconds[filled:]} ms")
        spark.stop()
    return _record(stream, windows, timings, filled)


def _record(
    stream: Stream,
    windows: dict[str, int],
    timings: dict[str, list[engine.Timing]],
    filled: int,
) -> Record:
    def median(name: str, what: str) -> float:
        values = [
            run.milliseconds[place] if what == "time" else run.counts[place][what]
            for run in timings[name]
            for place in range(filled, len(run.milliseconds))
        ]
        return statistics.median(values)

    figures: dict[str, float] = {}
    for what in ("time", "written_bytes", "matched", "resident_left", "segments"):
        for name in windows:
            figures[f"{name}_{what}"] = median(name, what)
    figures["time_ratio"] = figures["long_time"] / figures["short_time"]
    figures["bytes_ratio"] = (
        figures["long_written_bytes"] / figures["short_written_bytes"]
    )
    sizes = {
        "rows_per_side": stream.rows,
        "micro_batches": stream.files,
        "compared_from": filled,
        "short_window_s": windows["short"],
        "long_window_s": windows["long"],
        "seed": stream.seed,
    }
    milliseconds = {n: [run.milliseconds for run in r] for n, r in timings.items()}
    return Record("window-growth", sizes, figures, {"milliseconds": milliseconds})
