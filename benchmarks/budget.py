"""Results and importance kept when the join may hold only a part of the window.

Memory is in rows, both sides and all shards. The full window is what the exact join
holds on average at the ends of micro-batches: left rows not older than ``after`` and
right rows not older than ``before``. A contestant is given 5, 10, 25 or 50 % of that.
Recall is the part of the exact result rows that it finds, importance the part of their
total worth: the price of the impression, elsewhere one per row. Results count once the
first window has filled. A micro-batch brings a tenth of a window; the part of the
results that lie within one, ``recall_without_memory``, is printed too, since a join
that sheds at the ends of micro-batches only finds them anyway. Contestants:

- ``ours``: ``shedjoin.join`` with a budget, a stream of thirty micro-batches;
- ``short_window``: Spark's own join, the window shortened until the rows fit;
- ``key_sample``: Spark's own join on keys with a low hash, in both streams;
- ``row_sample``: Spark's own join on rows with a low hash, in both streams.

Samples are means over several hashes. Where right rows are not held at all (bids,
clicks), a sample of left rows alone would do as well as the sample of keys does.

Rivals are computed by a batch join, which gives exactly what their streaming queries
give. Every row of a file is later than all rows of the files before it and the
watermarks have no delay, so a watermark never reaches a row that is still to come:
none is late. Spark lets go of a stored row only when the watermark proves that no row
to come can match it. So the streaming join finds every pair of the batch join, and as
it is an inner join over the same rows, it finds no other. One cell per rival is also
run as a stream, and must agree. The rows they hold are counted by event time, the least
that they need: Spark's watermark, and so its state, is a micro-batch behind. Ours are
the residents that it reports.

Our join runs on two shards. ``BUDGET_SHARDS=16,64`` in the environment also runs it on
so many, and prints what it keeps there as part of what it keeps on two.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import MINIMAL
from rich.console import Console
from rich.table import Table

import shedjoin
from benchmarks import engine, rivals
from benchmarks.census import COINS
from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.scenes import SEED, observed, scenes
from benchmarks.stage import Cell, Stage, against, check

MEMORIES = (5, 10, 25, 50)
QUICK_MEMORIES = (10,)


def run(*, quick: bool) -> Record:
    memories = QUICK_MEMORIES if quick else MEMORIES
    cells: list[Cell] = []
    many: dict[int, list[Cell]] = {shards: [] for shards in _more_shards()}
    checked: list[str] = []
    sizes: dict[str, Any] = {"seed": SEED, "hashes": COINS}
    with tempfile.TemporaryDirectory() as scratch:
        spark = engine.session(Path(scratch))
        for scene in scenes(quick=quick):
            stage = Stage.set_up(spark, Path(scratch, scene.name), scene, memories)
            sizes[scene.name] = stage.sizes()
            note(f"{scene.name}: {stage.sizes()}")
            if not checked:
                checked = check(stage, rivals.RIVALS[:1] if quick else rivals.RIVALS)
            for memory in memories:
                cells += [*against(stage, memory), ours(stage, memory)]
                for shards, own in many.items():
                    own.append(ours(stage, memory, shards))
        spark.stop()
    record = _record(sizes, cells, checked)
    record.figures |= _over_shards(cells, many)
    return record


def _more_shards() -> list[int]:
    named = os.environ.get("BUDGET_SHARDS", "")
    return [int(shards) for shards in named.split(",") if shards]


def _over_shards(cells: list[Cell], many: dict[int, list[Cell]]) -> dict[str, Any]:
    """What is kept on many shards as part of what two keep, cell by cell."""
    two = [cell for cell in cells if cell.contestant == "ours"]
    return {
        f"part_on_{shards}_shards": {
            f"{cell.workload} {cell.memory_percent} %": cell.importance / one.importance
            for one, cell in zip(two, own, strict=True)
        }
        for shards, own in many.items()
    }


def ours(stage: Stage, memory: int, shards: int = 2) -> Cell:
    """Our cell: the join under a budget, as a stream."""
    scene, rows = stage.scene, stage.budgets[memory]
    engine.use_store(stage.spark, "rocksdb")
    stage.spark.conf.set("spark.sql.shuffle.partitions", str(shards))
    left, right = scene.streams(stage.spark, stage.folder)
    after, before = (f"{seconds} seconds" for seconds in scene.reach_s)
    matches = shedjoin.join(
        left,
        right,
        on=scene.key,
        within=shedjoin.Within(before=before, after=after),
        budget=shedjoin.Budget(rows=rows),
        keep=(
            shedjoin.MostImportant((scene.importance, None))
            if scene.importance
            else shedjoin.MostResults()
        ),
    )
    label = f"{scene.name}, {memory} % of the window, {shards} shards"
    score, timing = observed(matches, scene, label)
    stage.spark.conf.set("spark.sql.shuffle.partitions", "2")
    held = [
        counts["resident_left"] + counts["resident_right"] for counts in timing.counts
    ]
    assert max(held) <= rows, f"{max(held)} rows held, budget {rows}"
    measured = held[-scene.ends_us.size :]
    cell = stage.cell(memory, "ours", statistics.fmean(measured), score)
    note(
        f"{label}: recall {cell.recall:.3f}, importance {cell.importance:.3f}, "
        f"{timing.seconds:.0f} s"
    )
    return cell


def _record(sizes: dict[str, Any], cells: list[Cell], checked: list[str]) -> Record:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(f"{cell.workload} {cell.memory_percent} %", []).append(cell)
    first = {
        name: max(group, key=lambda cell: cell.importance).contestant
        for name, group in groups.items()
    }
    figures = {
        "cells": [asdict(cell) for cell in cells],
        "first": first,
        "ours_first": sum(name == "ours" for name in first.values()),
        "of": len(first),
        "ours_not_first": [cell for cell, name in first.items() if name != "ours"],
    }
    return Record("budget", sizes, figures, {"checked_as_streams": checked})


def show(record: Record) -> None:
    """Print the cells, the first of each group, and those that we do not win."""
    table = Table(title="budget", title_justify="left", box=MINIMAL, pad_edge=False)
    for name in ("workload, memory", "contestant"):
        table.add_column(name, no_wrap=True)
    for name in ("budget", "held", "recall", "importance", ""):
        table.add_column(name, justify="right")
    group = ""
    for cell in record.figures["cells"]:
        name = f"{cell['workload']} {cell['memory_percent']} %"
        if name != group:
            table.add_section()
        table.add_row(
            name if name != group else "",
            cell["contestant"],
            f"{cell['budget_rows']:,}",
            f"{cell['held_rows']:,.0f}",
            f"{cell['recall']:.1%}",
            f"{cell['importance']:.1%}",
            "1st" if record.figures["first"][name] == cell["contestant"] else "",
        )
        group = name
    console = Console()
    console.print(table)
    figures = record.figures
    console.print(f"ours is first in {figures['ours_first']} of {figures['of']} cells")
    if figures["ours_not_first"]:
        console.print("not in: " + ", ".join(figures["ours_not_first"]))
    for name, parts in figures.items():
        if name.startswith("part_on_"):
            told = ", ".join(f"{cell}: {part:.3f}" for cell, part in parts.items())
            console.print(f"{name}: {told}")
