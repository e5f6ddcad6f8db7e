"""What ``shedjoin.size`` measures on unsorted Parquet, against runs in memory.

``recall_*`` is its recall in the smallest memory. The others are the greatest
differences from it over all sizes, each under the same budget: ``off_direct_*`` of runs
over the workload's own micro-batches, against its truth; ``off_cut_*`` with windows cut
into 6 and into 48 micro-batches; ``off_shards_*`` on 4 shards.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.console import note
from benchmarks.record import Record
from benchmarks.worlds import WINDOWS, World, truth_of, worlds
from shedjoin import Budget, Options, Within, local, size
from shedjoin.lab.workloads.rows import Batches
from shedjoin.local.archive import open_stream
from shedjoin.local.cutting import PER_WINDOW, Cut, micro_batches
from shedjoin.local.sizing import Sizing
from shedjoin.sizing import PARTS

WORLDS = {"zipf": "zipf 0.8", "clicks": "clicks"}
CUTS = (6, 48)
FILES, SEED, SHARDS = 4, 1, 4


def run(*, quick: bool) -> Record:
    rows, parts = (200, PARTS[2:3]) if quick else (5000, PARTS)
    cuts = CUTS[: 1 if quick else None]
    figures: dict[str, float] = {}
    details: dict[str, Any] = {}
    for name in list(WORLDS)[: 1 if quick else None]:
        world = worlds(rows)[WORLDS[name]]
        streams, _ = world.make(WINDOWS * PER_WINDOW, SEED)
        with TemporaryDirectory() as folder:
            paths = [_write(streams, side, Path(folder)) for side in (0, 1)]
            found = size(*paths, **_join(world), parts=parts)
            note(f"{name}\n{found}")
            others = {"direct": [_direct(world, streams, found)]}
            others["cut"] = [_again(world, paths, found, cut) for cut in cuts]
            others["shards"] = [_again(world, paths, found, PER_WINDOW, shards=SHARDS)]
        measured = [each.recall for each in found.sizes]
        figures[f"recall_{name}"] = measured[0]
        for what, recalls in others.items():
            off = np.abs(np.subtract(recalls, measured))
            figures[f"off_{what}_{name}"] = float(off.max())
        details[name] = {"size": measured, **others}
    sizes = {"rows": rows, "seed": SEED, "shards": SHARDS}
    return Record("size", sizes, figures, details)


def _write(streams: Batches, side: int, folder: Path) -> Path:
    """Write all rows of a side in no order, into several files."""
    table = pa.concat_tables([batch[side] for batch in streams])
    order = np.random.default_rng(SEED).permutation(table.num_rows)
    path = folder / str(side)
    path.mkdir()
    for number, part in enumerate(np.array_split(order, FILES)):
        pq.write_table(table.take(pa.array(part)), path / f"{number}.parquet")
    return path


def _join(world: World) -> dict[str, Any]:
    after, before = (f"{seconds} seconds" for seconds in world.reach_s)
    within = Within(before=before, after=after)
    return {"on": world.key, "within": within, "time": world.times}


def _direct(world: World, streams: Batches, found: Sizing) -> list[float]:
    whole = int(truth_of(world, streams).results.sum())
    return [_found(world, streams, each.memory) / whole for each in found.sizes]


def _again(
    world: World, paths: list[Path], found: Sizing, cut: int, shards: int = 1
) -> list[float]:
    """Recall under the same budgets, with other micro-batches or shards."""
    archives = [
        open_stream(path.name, path, time, None)
        for path, time in zip(paths, world.times, strict=True)
    ]
    whole = Cut.by_length(archives, max(world.reach_us) // cut)
    return [
        _found(world, micro_batches(archives, whole), each.memory, shards)
        / found.results
        for each in found.sizes
    ]


def _found(world: World, batches: Iterable[Any], memory: int, shards: int = 1) -> int:
    budget = Budget(memory=memory)
    done = local.join(
        batches,
        **_join(world),
        budget=budget,
        options=Options(shards=shards),
        collect=False,
    )
    return done.report.matched
