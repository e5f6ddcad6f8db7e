"""Arrivals of the oracle as micro-batches of the local runner, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from oracle.shedding import Arrival
from shedjoin import Budget, MostImportant, Options, Successive, Within
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.policies import Policy
from shedjoin.spec.recompute import Recompute
from shedjoin.spec.shedding import Discipline

START = 1_700_000_000
TIMES = ("left_time", "right_time")
NAMES = ("left", "right")
EVERY_TIME = Successive()


def random_arrivals(
    seed: int, *, instants: int = 40, keys: int = 4, per_instant: int = 1
) -> list[list[Arrival]]:
    """Up to ``per_instant`` arrivals of each side at every second."""
    rng = np.random.default_rng(seed)
    return [
        [
            Arrival(time, side, int(rng.integers(keys)), float(rng.integers(1, 6)))
            for side in (0, 1)
            for _ in range(int(rng.integers(1, per_instant + 1)))
        ]
        for time in range(instants)
    ]


def tables(
    instants: Sequence[Sequence[Arrival]], per_batch: int
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Micro-batches of some instants each; ``left`` and ``right`` are row numbers."""
    ordered = [sorted(instant, key=lambda one: one.side) for instant in instants]
    numbered = list(enumerate(one for instant in ordered for one in instant))
    cuts = np.cumsum([0, *(len(instant) for instant in ordered)])
    for first in range(0, len(ordered), per_batch):
        last = min(first + per_batch, len(ordered))
        rows = numbered[cuts[first] : cuts[last]]
        left, right = (table(rows, side) for side in (0, 1))
        yield left, right


def table(rows: Sequence[tuple[int, Arrival]], side: int) -> pa.Table:
    mine = [(number, one) for number, one in rows if one.side == side]
    time = [(START + one.time) * 1_000_000 for _, one in mine]
    return pa.table(
        {
            "k": pa.array([one.key for _, one in mine], pa.int64()),
            TIMES[side]: pa.array(time, pa.timestamp("us", "UTC")),
            NAMES[side]: pa.array([number for number, _ in mine], pa.int64()),
            f"{NAMES[side]}_imp": pa.array(
                [o.importance for _, o in mine], pa.float64()
            ),
        }
    )


def run(
    instants: Sequence[Sequence[Arrival]],
    policy: Policy,
    capacity: int | tuple[int, int],
    *,
    window: int,
    discipline: Discipline = "probe_then_insert",
    recompute: Recompute = EVERY_TIME,
    per_batch: int = 7,
    restart_every: int = 0,
    lateness: tuple[str, str] = ("0 seconds", "0 seconds"),
) -> Run:
    """Join under a budget; the window is closed."""
    if isinstance(capacity, tuple):
        total = sum(capacity)
        budget = Budget(rows=total, split=capacity[0] / total if total else 0.5)
    else:
        budget = Budget(rows=capacity)
    return join(
        tables(instants, per_batch),
        on="k",
        within=Within(before=f"{window} seconds", after=f"{window} seconds"),
        time=TIMES,
        budget=budget,
        keep=MostImportant(("left_imp", "right_imp"), by=policy),
        options=Options(discipline=discipline, recompute=recompute),
        restart_every=restart_every,
        lateness=lateness,
    )


def pairs(run: Run) -> list[tuple[int, int]]:
    """Row numbers of all results, sorted."""
    results = run.results
    return sorted(
        zip(results["left"].to_pylist(), results["right"].to_pylist(), strict=True)
    )
