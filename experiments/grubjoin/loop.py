"""A join that sets its own throttle, on a machine that does so much work per second.

Rows wait in a buffer for each stream. In every step the join takes as many as it will
probably have time for, at the work of a row so far; what took longer is time that the
next steps lack. Rows for which there is no room in the buffers are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from experiments.grubjoin.runs import joined
from experiments.grubjoin.streams import Scene
from shedjoin.lab.plan import throttle_share
from shedjoin.operators.multiway.harvesting import Harvesting
from shedjoin.policies import Harvest
from shedjoin.spec.report import Report

STEP_S, BOOST = 0.5, 1.2


@dataclass(slots=True)
class Machine:
    """Streams before a join that does ``capacity`` comparisons per second.

    ``period`` is the time between two settings of the throttle, ``room`` how many rows
    a buffer holds. ``reset`` is the second at which the throttle is opened; buffers are
    emptied then if ``empties`` says so.
    """

    scene: Scene
    capacity: float
    seconds: int
    period: float = 5.0
    room: int = 10
    rate_at: Callable[[float], float] | None = None
    reset: float = -1.0
    empties: bool = False
    seed: int = 1
    results: list[float] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def run(self) -> Machine:
        """Join; ``results``, ``dropped`` and ``shares`` are then those of each step."""
        control: dict[int, list[dict[str, Any]]] = {}
        with _watched() as reports:
            batches = self._batches(control, reports)
            joined(batches, self.scene.names, Harvest(), control)
        self.results = [float(report.matched) for report in reports]
        return self

    def _batches(
        self, control: dict[int, list[dict[str, Any]]], reports: list[Report]
    ) -> Iterator[dict[str, pa.Table]]:
        rng = np.random.default_rng(self.seed)
        waiting: dict[str, pa.Table] = {}
        share, left, each = 1.0, 0.0, 0.0
        consumed = arrived = 0
        for step in range(round(self.seconds / STEP_S)):
            start, before = step * STEP_S, share
            if step and start % self.period == 0:
                share = throttle_share(
                    share, consumed=consumed, arrived=arrived, boost=BOOST
                )
                consumed = arrived = 0
            if start == self.reset:
                share = 1.0
                waiting = {} if self.empties else waiting
            control[step] = [{"throttle": {"share": share, "match": 0.0}}]
            self.shares.append(share)
            rate = self.rate_at(start) if self.rate_at else self.scene.rate
            came = self.scene._replace(rate=rate).rows(rng, start, STEP_S)
            waiting = {
                name: pa.concat_tables([waiting[name], rows]) if waiting else rows
                for name, rows in came.items()
            }
            left = min(left, 0.0) + self.capacity * STEP_S
            each *= share / before
            most = max(0, int(left / each / self.scene.streams)) if each else None
            taken = {name: rows[:most] for name, rows in waiting.items()}
            waiting = {
                name: rows[taken[name].num_rows :] for name, rows in waiting.items()
            }
            held = {name: rows[: self.room] for name, rows in waiting.items()}
            self.dropped.append(_rows(waiting) - _rows(held))
            waiting = held
            consumed += _rows(taken)
            arrived += _rows(came)
            yield taken
            left -= reports[-1].looked
            if _rows(taken):
                each = max(reports[-1].looked / _rows(taken), 1.0)


def _rows(tables: dict[str, pa.Table]) -> int:
    return sum(rows.num_rows for rows in tables.values())


@contextmanager
def _watched() -> Iterator[list[Report]]:
    """Give the reports of a join while it runs."""
    reports: list[Report] = []
    end = Harvesting.end

    def watching(self: Harvesting, report: Report) -> Report:
        reports.append(end(self, report))
        return reports[-1]

    with patch.object(Harvesting, "end", watching):
        yield reports
