"""Small workloads of ``budget``: what policies find, and the most there is to find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.console import note, progress
from benchmarks.scenes import SEED, Scene, sized_scenes
from shedjoin import (
    Budget,
    MostImportant,
    MostResults,
    Options,
    Successive,
    Within,
    local,
    policies,
)
from shedjoin.lab.offline import StarArchive, star_optimum
from shedjoin.lab.offline.star_memory import Most
from shedjoin.lab.workloads.rows import Batches
from shedjoin.policies import Policy
from shedjoin.spec.shedding import Discipline

ROWS = 10
"""Memory of a join: half of it is for each stream."""
SIZE, WINDOWS = 40, 12
NAMES = ("Prob", "IJoin", "Greedy", "Dgl", "Rand")
"""Policies beside the goals."""
GOALS: dict[Most, str] = {"results": "most_results", "importance": "most_important"}
DISCIPLINES: tuple[Discipline, ...] = ("shed_then_probe", "shed_then_join")


@dataclass(frozen=True, slots=True)
class Cell:
    """What one policy found of one workload, and the most that there was to find."""

    workload: str
    aim: Most
    discipline: Discipline
    policy: str
    found: float
    optimum: float

    @property
    def part(self) -> float:
        return self.found / self.optimum

    @property
    def field(self) -> str:
        other = f"_{self.discipline}" if self.discipline != DISCIPLINES[0] else ""
        return f"{self.workload}_{self.policy}_{self.aim}{other}"


def cells(seeds: int, windows: int = WINDOWS) -> list[Cell]:
    """All cells; what is found with each seed is added up."""
    added: dict[tuple[str, Most, Discipline, str], list[float]] = {}
    with progress() as display:
        task = display.add_task("searching optima", total=3 * seeds)
        for seed in range(SEED, SEED + seeds):
            for scene in sized_scenes(SIZE, windows, 10 * windows, seed):
                display.update(task, description=f"{scene.name}, seed {seed}")
                for cell in _of_scene(scene, scene.make()):
                    place = cell.workload, cell.aim, cell.discipline, cell.policy
                    sums = added.setdefault(place, [0.0, 0.0])
                    sums[0] += cell.found
                    sums[1] += cell.optimum
                display.advance(task)
    return [Cell(*place, *sums) for place, sums in added.items()]


def _of_scene(scene: Scene, batches: Batches) -> Iterator[Cell]:
    archive = _archive(scene, batches)
    for aim in ("results", "importance") if scene.importance else ("results",):
        best = star_optimum(archive, rows=ROWS, most=aim)
        optimum = float(best.size if aim == "results" else best.importance)
        note(f"{scene.name}, {aim}: {optimum:,.0f} at best")
        for discipline in DISCIPLINES:
            for name, policy in _contestants(scene).items():
                found = _found(scene, batches, aim, discipline, policy)
                # Sums of prices are rounded in the order in which they are added.
                assert found <= optimum * (1 + 1e-9), f"{name!r} exceeds the optimum"
                told = name or GOALS[aim]
                yield Cell(scene.name, aim, discipline, told, found, optimum)


def _contestants(scene: Scene) -> dict[str, Policy | None]:
    """Policies by name; that of the goal has none."""
    found: dict[str, Policy | None] = {"": None}
    for name in NAMES:
        kind = getattr(policies, name)
        if kind is policies.IJoin:
            maturity, patience = _units(scene, 2), _units(scene, 3)
            found["ijoin"] = policies.IJoin(maturity, patience, unit=_units(scene, 1))
        elif kind is policies.Dgl:
            found["dgl"] = policies.Dgl(unit=_units(scene, 1))
        else:
            found[name.lower()] = kind()
    return found


def _units(scene: Scene, count: int) -> str:
    """Times the mean time between two left rows, the papers' unit."""
    rows = sum(left.num_rows for left, _ in scene.make())
    return f"{count * round(1e6 * scene.seconds / rows)} microseconds"


def _found(
    scene: Scene,
    batches: Batches,
    aim: Most,
    discipline: Discipline,
    policy: Policy | None,
) -> float:
    """Results of a join, or their importance if that is the aim."""
    keep: Policy | MostResults | MostImportant = policy or MostResults()
    if aim == "importance":
        keep = MostImportant((scene.importance, None), by=policy)
    results = local.join(
        batches,
        on=scene.key,
        within=_within(scene),
        time=scene.times,
        budget=Budget(rows=ROWS, split=0.5),
        keep=keep,
        options=Options(discipline=discipline, recompute=Successive()),
    ).results
    if aim == "results":
        return float(results.num_rows)
    return float(results[scene.importance].to_numpy().sum())


def _archive(scene: Scene, batches: Batches) -> StarArchive:
    """Both streams; a result is as important as its left row.

    No two rows come at the same instant, so that both disciplines have one optimum.
    """
    left, right = (pa.concat_tables(side) for side in zip(*batches, strict=True))
    times = [left[scene.times[0]].to_numpy(), right[scene.times[1]].to_numpy()]
    assert np.unique(np.concatenate(times)).size == left.num_rows + right.num_rows
    if scene.importance:
        most = np.full(right.num_rows, max(left[scene.importance].to_pylist()))
        right = right.append_column(scene.importance, pa.array(most))
    return StarArchive(
        left,
        right,
        None,
        scene.key,
        _within(scene),
        time=scene.times,
        importance=scene.importance,
    )


def _within(scene: Scene) -> Within:
    after, before = (f"{seconds} seconds" for seconds in scene.reach_s)
    return Within(before=before, after=after)
