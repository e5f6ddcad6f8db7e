"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.console import show
from benchmarks.record import Record

NAMES = {
    "exact": "the join on Spark against Spark's own join and the bare engine",
    "ours": "only the joins of this library, of exact and star, to compare revisions",
    "window-growth": "cost of a micro-batch when the window is 16 times longer",
    "kernels": "the join on one core, without Spark",
    "band": "band joins on one core: a nested loop, a sorted index, the whole join",
    "multiway": "joins by distance and of three streams on Spark, against Spark's own",
    "harvest": "results of window harvesting over those of random dropping",
    "harvest-spark": "the same on Spark, under a CPU budget",
    "several": "results of several streams kept in a sixth of the memory",
    "star": "joins through a relation on Spark, against Spark's own",
    "relation": "what a join through a relation pays for its size, on one core",
    "budget": "results and importance kept in 5 to 50 % of the memory",
    "size": "recall that is measured on archives, against runs in memory",
    "truth": "what is kept and what is reported under a budget, against the truth",
    "optimum": "results and importance against the best that any shedding could find",
    "learning": "policies that learn against the same policies told the truth",
    "shedding": "what shedding costs per arrival, on one core",
    "budget-speed": "rows per second with a budget, on Spark, against no budget",
    "scale": "cost of a row in a long stream, and of a shard beside its rows",
    "burst": "micro-batches in time while three times too much comes, on Spark",
    "costs": "time of a micro-batch against what learned costs predict, on Spark",
    "before-shuffle": "what dropping rows before the shuffle could save, on Spark",
    "first-use": "seconds from the call to the first result on Spark",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="; ".join(f"{name}: {what}" for name, what in NAMES.items()),
    )
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try it")
    parser.add_argument("--json", type=Path, help="write the record to this file")
    parser.add_argument("--plot", type=Path, help="draw the record into this PNG file")
    options = parser.parse_args()
    module = importlib.import_module(f"benchmarks.{options.name.replace('-', '_')}")
    record: Record = module.run(quick=options.quick)
    getattr(module, "show", show)(record)
    if options.json:
        record.write(options.json)
    if options.plot:
        importlib.import_module("benchmarks.chart").draw(record, options.plot)


main()
