"""What a budget promises, held against the truth.

Workloads of three windows each (``worlds.py``): Zipf keys that stay or drift, ad
impressions, clicks with unique keys, auctions, and rows of varying size. A run is given
5, 10, 25 or 50 % of what the window holds. What is kept counts once the first window
has filled, as part of what the exact join finds; what is reported is held against the
whole run. Cells:

- *policies*: the default, fixed policies and a policy that knows the truth, on one
  shard in 12 micro-batches; of rows of varying size also the default without sizes;
- *shards*: the default on 1, 8 and 64 shards in 3, 12 and 48 micro-batches;
- *sizing*: a budget that names a recall of 0.9, on 1 and 8 shards, in six windows of
  half the length.

What is expected with other budgets is held against the runs with these.

Seeds from 100 on are for tuning; the published figures come from seeds 1 to 5. All of
it takes hours. The environment may name less: ``TRUTH_SEEDS=1,2``,
``TRUTH_WORLDS="zipf 1,clicks"``, ``TRUTH_PARTS=policies,shards,sizing``,
``TRUTH_MEMORIES=10,50``, ``TRUTH_CUTS=64x12,8x12`` (shards and micro-batches). What the
file ``TRUTH_MEMO`` remembers is not run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.console import note, progress
from benchmarks.record import Record
from benchmarks.truth_cells import DEFAULT, FIXED, INFORMED, UNSIZED, Cell
from benchmarks.truth_recall import ByRecall
from benchmarks.truth_tables import figures, show
from benchmarks.worlds import worlds

__all__ = ["run", "show"]

MEMORIES = (5, 10, 25, 50)
CUTS = ((1, 3), (1, 48), (8, 12), (64, 12), (64, 48))
QUICK = ("zipf 0.8", "impressions", "clicks")
VALUED = ("impressions", "auctions", "clicks", "zipf 0.8")


def run(*, quick: bool) -> Record:
    """Run all cells, or a few small ones."""
    seeds = (1,) if quick else _seeds()
    rows = 2_000 if quick else 40_000
    cells = list(_cells(seeds, rows, quick=quick))
    done = measured(cells)
    sizes = {"rows": rows, "seed": seeds[0], "seeds": list(seeds), "runs": len(cells)}
    return Record("truth", sizes, figures(done), {"cells": done})


def _seeds() -> tuple[int, ...]:
    """Seeds 1 to 5, unless the environment names others."""
    named = os.environ.get("TRUTH_SEEDS", "1,2,3,4,5")
    return tuple(map(int, named.split(",")))


def _memories() -> tuple[int, ...]:
    named = os.environ.get("TRUTH_MEMORIES")
    return MEMORIES if named is None else tuple(map(int, named.split(",")))


def _cuts() -> tuple[tuple[int, ...], ...]:
    named = os.environ.get("TRUTH_CUTS")
    if named is None:
        return CUTS
    return tuple(tuple(map(int, each.split("x"))) for each in named.split(","))


def _cells(seeds: Iterable[int], rows: int, *, quick: bool) -> Iterator[Cell]:
    only = os.environ.get("TRUTH_WORLDS")
    names = [*QUICK] if quick else list(worlds(rows))
    names = names if only is None else only.split(",")
    parts = os.environ.get("TRUTH_PARTS", "policies,shards,sizing").split(",")
    memories = (10,) if quick else _memories()
    for name, seed in product(names, seeds):
        goals = ("results", "importance") if name in VALUED else ("results",)
        for goal, memory in product(goals, memories):
            policies = [DEFAULT]
            if "policies" in parts:
                policies += [*FIXED[goal]]
                policies += [INFORMED] if goal == "results" else []
                policies += [UNSIZED] if name.endswith("sized") else []
            for policy in policies[:2] if quick else policies:
                yield Cell(name, goal, memory, 1, 12, seed, policy, rows)
        if "sizing" in parts:
            for shards in (1,) if quick else (1, 8):
                yield ByRecall(name, "results", 120, shards, 24, seed, rows=rows)
        cuts = ((8, 12),) if quick else _cuts()
        if "shards" in parts:
            for (shards, batches), goal, memory in product(cuts, goals, memories):
                yield Cell(name, goal, memory, shards, batches, seed, DEFAULT, rows)


def measured(cells: list[Cell]) -> list[dict[str, Any]]:
    """Run cells in two processes; what a file remembers is not run again."""
    memo = Path(os.environ["TRUTH_MEMO"]) if "TRUTH_MEMO" in os.environ else None
    known: dict[str, Any] = {}
    if memo is not None and memo.exists():
        known = dict(map(json.loads, memo.read_text().splitlines()))
    todo = sorted(
        (cell for cell in cells if repr(cell) not in known),
        key=lambda c: (c.world, c.seed, c.batches, c.shards),
    )
    with progress() as display, get_context("spawn").Pool(_jobs()) as pool:
        task = display.add_task("truth", total=len(todo))
        for cell, found in pool.imap_unordered(_measure, todo, chunksize=4):
            known[repr(cell)] = found
            display.advance(task)
            if memo is not None:
                with memo.open("a") as file:
                    file.write(json.dumps([repr(cell), found]) + "\n")
    note(f"{len(todo)} runs")
    return [_facts(cell) | known[repr(cell)] for cell in cells]


def _jobs() -> int:
    return int(os.environ.get("TRUTH_JOBS", "2"))


def _measure(cell: Cell) -> tuple[Cell, dict[str, Any]]:
    return cell, cell.measure()


def _facts(cell: Cell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in Cell.__slots__}
