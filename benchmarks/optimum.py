"""How near policies come to the best that any way to shed could find.

The workloads of ``budget`` at small sizes, as the optimum is searched for in all
memories that there could be: ``shedjoin.lab.offline.star_optimum``, a two-way join
being the relation of equal keys. It knows the future. Joins have a memory of 10 rows,
half of them for each stream; where only left rows are ever matched later (auctions,
impressions), that is five rows of use. Scores are computed again for every shed.

``<workload>_<policy>_results`` is the number of results over the most that there could
be, under ``shed_then_probe``, as the optimum has it; with ``_shed_then_join`` at the
end, under that discipline, where arrivals that are not stored meet nobody. No policy
can find more than the optimum.
``<workload>_<policy>_importance`` is the same of their total price, where results have
one, with the policies told the prices; sums over seeds. ``most_results`` and
``most_important`` are the goals, with the policies that they pick. One unit of time of
``IJoin`` and ``Dgl`` is the mean time between two rows of the left stream.

``optimum_100k_s`` is the time that the optimum takes on Spark, in local mode on two
cores, for the streams of figure 4 of the star-streaming paper with 100,000 rows each
(m = 10, M = 10, 250 relation rows, 100 values), all of them DataFrames; ``here`` is
without Spark, on one core. ``long`` are the same streams with m = 50. Workers have been
started before. ``equal`` says that both found the same rows to hold at the same times.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.box import MINIMAL
from rich.console import Console
from rich.table import Table

from benchmarks import optimum_cells, optimum_spark
from benchmarks.console import show as show_figures
from benchmarks.record import Record
from benchmarks.scenes import SEED

SEEDS = 3


def run(*, quick: bool) -> Record:
    seeds, windows = (1, 3) if quick else (SEEDS, optimum_cells.WINDOWS)
    rows = 2_000 if quick else 100_000
    cells = optimum_cells.cells(seeds, windows)
    figures = {cell.field: cell.part for cell in cells}
    figures |= optimum_spark.figures(rows, SEED)
    sizes = {
        "seed": SEED,
        "seeds": seeds,
        "memory_rows": optimum_cells.ROWS,
        "rows_per_window": optimum_cells.SIZE,
        "windows": windows,
        "archive_rows": rows,
    }
    details = [
        asdict(cell) | {"part": cell.part, "field": cell.field} for cell in cells
    ]
    return Record("optimum", sizes, figures, {"cells": details})


def show(record: Record) -> None:
    """Print the cells, a table for each discipline, and what else there is."""
    cells = record.details["cells"]
    for discipline in dict.fromkeys(cell["discipline"] for cell in cells):
        own = [cell for cell in cells if cell["discipline"] == discipline]
        Console().print(_table(f"optimum, {discipline}", own))
    names = {cell["field"] for cell in cells}
    others = {k: v for k, v in record.figures.items() if k not in names}
    show_figures(Record(record.name, record.sizes, others))


def _table(title: str, cells: list[dict[str, Any]]) -> Table:
    """A row for each policy, a column for each workload and aim."""
    columns = dict.fromkeys((cell["workload"], cell["aim"]) for cell in cells)
    table = Table(title=title, title_justify="left", box=MINIMAL, pad_edge=False)
    table.add_column("part of the optimum", no_wrap=True)
    for workload, aim in columns:
        table.add_column(f"{workload},\n{aim}", justify="right")
    for policy in dict.fromkeys(cell["policy"] for cell in cells):
        parts = {
            (cell["workload"], cell["aim"]): f"{cell['part']:.1%}"
            for cell in cells
            if cell["policy"] == policy
        }
        table.add_row(policy, *(parts.get(column, "") for column in columns))
    return table
