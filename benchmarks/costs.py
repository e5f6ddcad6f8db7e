"""How well learned costs predict the time of a micro-batch, on Spark.

Setting: micro-batches of 10 k to 320 k rows, with half a result to 12 results a row, of
which all or 30 % of the work is done, in a drawn order. Each is predicted from costs
learned from all others. ``within_20_percent`` is the part that is predicted so well.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from benchmarks import engine
from benchmarks.console import note
from benchmarks.record import Record
from shedjoin.models.costs import Costs
from shedjoin.spark.calibration import Measured, Sweep, measure

FULL = Sweep(rows=(5_000, 20_000, 60_000, 160_000), results=(0.5, 4, 12), rounds=2)
QUICK = Sweep(rows=(500, 1_000), results=(1.0,))


def run(*, quick: bool) -> Record:
    sweep = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        engine.use_store(spark, "rocksdb")
        found = measure(spark, Path(scratch, "streams"), note, sweep)
        spark.stop()
    errors = [abs(error(found, place)) for place in range(len(found))]
    figures = {
        "median_error": statistics.median(errors),
        "worst_error": max(errors),
        "within_20_percent": sum(one <= 0.2 for one in errors) / len(errors),
    }
    costs = Costs()
    for one in found:
        costs.observe(*one)
    figures |= {f"{name}_s": cost for name, cost in costs.seconds()._asdict().items()}
    sizes = {"micro_batches": len(found), "seed": sweep.seed}
    details = {"measured": [[*one.work, one.seconds] for one in found]}
    return Record("costs", sizes, figures, details)


def error(found: list[Measured], place: int) -> float:
    """Error of the time predicted from all other micro-batches, as part of it."""
    costs = Costs()
    for other, one in enumerate(found):
        if other != place:
            costs.observe(*one)
    work, seconds = found[place]
    return costs.seconds().of(work) / seconds - 1
