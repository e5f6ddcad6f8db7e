"""Two streams with all settings of their join, and its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies.base import Policy
from shedjoin.policies.goals import MostImportant
from shedjoin.request.options import Options
from shedjoin.spec.budget import Budget
from shedjoin.spec.recompute import DEFAULT, Recompute
from shedjoin.spec.report import Report
from shedjoin.spec.shedding import Combine, Discipline
from shedjoin.spec.streams import CLUSTER_COLUMN, WEIGHT_COLUMN
from shedjoin.spec.window import Within

Tables: TypeAlias = tuple[pa.Table, pa.Table]
KEY = "k"
TIMES = ("left_time", "right_time")
SAID = (WEIGHT_COLUMN, CLUSTER_COLUMN)
_TIMES = "times"


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """Micro-batches, and how they are joined.

    Parameters
    ----------
    seed : int
        Seed from which the streams were drawn.
    batches : tuple of (left, right) tables
        The micro-batches.
    budget : Budget
        What the join may hold.
    within, lateness, shards, discipline, recompute
        As in :func:`shedjoin.local.join`.
    importance : (column or None, column or None)
        Columns with the importance of both streams.
    combine : str
        As in :class:`shedjoin.MostImportant`.
    """

    seed: int
    batches: tuple[Tables, ...]
    budget: Budget
    within: Within
    lateness: tuple[str, str] = ("0 seconds", "0 seconds")
    shards: int = 1
    discipline: Discipline = "probe_then_insert"
    recompute: Recompute = DEFAULT
    importance: tuple[str | None, str | None] = (None, None)
    combine: Combine = "min"

    def run(
        self,
        policy: Policy,
        *,
        restart_every: int = 0,
        blobs: int = 1,
        shuffle_seed: int = 0,
    ) -> Run:
        """Join under the budget."""
        weighed = self.importance != (None, None)
        try:
            return join(
                self.batches,
                on=KEY,
                within=self.within,
                time=TIMES,
                lateness=self.lateness,
                restart_every=restart_every,
                blobs=blobs,
                shuffle_seed=shuffle_seed,
                budget=self.budget,
                keep=MostImportant(self.importance, self.combine, policy)
                if weighed
                else policy,
                options=Options(
                    shards=self.shards,
                    seed=self.seed,
                    discipline="probe_then_insert"
                    if policy.samples
                    else self.discipline,
                    recompute=self.recompute,
                ),
            )
        except Exception as error:
            error.add_note(f"{policy!r} {self}")
            raise

    def exact(self) -> Run:
        """Join without a budget."""
        return _exact(self)

    def under(self, budget: Budget) -> Scenario:
        """The same scenario with another budget."""
        return replace(self, budget=budget)

    def __str__(self) -> str:
        told = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name != "batches"
        )
        return f"[{', '.join(told)}, {len(self.batches)} batches]"


@lru_cache(maxsize=256)
def _exact(scenario: Scenario) -> Run:
    return join(
        scenario.batches,
        on=KEY,
        within=scenario.within,
        time=TIMES,
        lateness=scenario.lateness,
        options=Options(shards=scenario.shards),
    )


def rows(run: Run) -> Counter[tuple[object, ...]]:
    """Count equal joined rows, without the columns that a sample adds."""
    columns = _joined(run).columns
    return Counter(zip(*(one.to_pylist() for one in columns), strict=True))


def surplus(run: Run, other: Run) -> int:
    """Count the joined rows that another run lacks, or has less often."""
    mine, theirs = (
        table.append_column(_TIMES, pa.array(np.full(table.num_rows, times)))
        for table, times in ((_joined(run), 1), (_joined(other), -1))
    )
    both = pa.concat_tables([mine, theirs]).group_by(_joined(run).column_names)
    more = both.aggregate([(_TIMES, "sum")])[f"{_TIMES}_sum"].to_numpy()
    return int(more.clip(0).sum())


def _joined(run: Run) -> pa.Table:
    results = run.results
    return results.drop_columns([name for name in SAID if name in results.column_names])


def difference(one: Run, other: Run, *, but: Collection[str] = ()) -> str | None:
    """Describe the first difference of two runs in rows or counts; None if equal.

    ``but`` names counts that may differ.
    """
    for number, (a, b) in enumerate(zip(one.batches, other.batches, strict=True)):
        if not a.results.equals(b.results):
            lost, won = a.results.num_rows, b.results.num_rows
            return f"batch {number} gave {lost} rows, then {won} others"
        for field in fields(Report):
            before, after = getattr(a.report, field.name), getattr(b.report, field.name)
            if before != after and field.name not in but:
                return f"{field.name} of batch {number} was {before}, then {after}"
    return None
