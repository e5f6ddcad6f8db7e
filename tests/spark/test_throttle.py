"""What the driver makes of the progress of a throttled join; no JVM."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shedjoin import Budget, Control
from shedjoin.control.message import decode_message
from shedjoin.control.record import KEPT
from shedjoin.models.costs import Costs, Seconds
from shedjoin.spark.throttle import _Query
from shedjoin.spec.recall import ESTIMATED

BUDGET = Budget(cpu="2 seconds")


class Watched:
    """A query whose micro-batches are made up."""

    def __init__(self, folder: Path, costs: Seconds, *, looks: bool = False) -> None:
        self.control = Control(folder)
        self.batch = 0
        self.entries: list[list[Any]] = []
        self.in_force: dict[str, Any] = {}
        self._query = _Query(5.0, Costs(costs, looks=looks), looks=looks)

    def step(
        self, seconds: float, rows: int = 10_000, looked: int = 0, exact: float = 0.0
    ) -> None:
        self.batch += 1
        progress: Any = SimpleNamespace(
            batchId=self.batch,
            timestamp=f"2026-01-01T00:00:{5 * self.batch:02d}Z",
            durationMs={"triggerExecution": 1000 * seconds},
        )
        record = {"in_force": self.in_force, "entries": self.entries}
        counts: dict[str, float] = {f"{name}_l": rows for name in ("seen", "stored")}
        counts |= {"matched": 10 * rows, "measured": 0, "missed": exact}
        counts |= {"recall_code": ESTIMATED}
        counts |= {"looked": looked, "looked_exact": looked}
        told = counts | {"control": json.dumps(record)}
        self._query.adapt(progress, told, BUDGET, self.control, "join")

    def apply(self) -> None:
        """Every message so far is in force; a record keeps the latest."""
        for name in self.control.sent()[len(self.entries) :]:
            self.in_force |= decode_message((self.control.path / name).read_bytes())
            self.entries.append([self.batch, name, ""])


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path, Seconds(0.2, 1e-6, 1e-6, 3e-5))


def test_the_first_micro_batch_decides_nothing(watched: Watched) -> None:
    watched.step(9.0)
    assert watched.control.sent() == []
    watched.step(3.3)
    [name] = watched.control.sent()
    told = decode_message((watched.control.path / name).read_bytes())
    assert 0.4 < told["throttle"]["share"] < 0.8


def test_no_message_before_the_last_one_is_in_force(watched: Watched) -> None:
    for _ in range(4):
        watched.step(3.3)
    assert len(watched.control.sent()) == 1
    watched.apply()
    watched.step(9.0)
    assert len(watched.control.sent()) == 2


def test_while_recall_is_not_known_an_idle_query_opens(watched: Watched) -> None:
    """It was taken for endless results, and the throttle closed to a thousandth."""
    watched.in_force = {"throttle": {"share": 0.5}}
    watched.step(2.0)
    for _ in range(3):
        watched.step(0.5, rows=5_000, exact=float("inf"))
        watched.apply()
    assert watched.in_force["throttle"]["share"] > 0.5


def test_to_close_further_does_not_wait(watched: Watched) -> None:
    """A query that is behind has ever longer micro-batches until it is done."""
    for _ in range(3):
        watched.step(3.3)
    watched.step(30.0, rows=90_000)
    first, second = (
        decode_message((watched.control.path / name).read_bytes())["throttle"]["share"]
        for name in watched.control.sent()
    )
    assert second < 0.5 * first
    watched.step(30.0, rows=90_000)
    assert len(watched.control.sent()) == 2


def test_a_flood_of_messages_does_not_stop_it(watched: Watched) -> None:
    """Its own message is no longer among those that the record remembers."""
    for _ in range(2):
        watched.step(3.3)
    for _ in range(KEPT + 1):
        watched.control.send(budget={"cpu": "2 seconds"})
    watched.apply()
    watched.entries = watched.entries[-KEPT:]
    sent = len(watched.control.sent())
    watched.step(9.0)
    assert len(watched.control.sent()) == sent + 1


def test_time_within_the_target_is_left_alone(watched: Watched) -> None:
    for _ in range(5):
        watched.step(1.5)
    assert watched.control.sent() == []
    assert watched.control.load("join")["target"] == 2.0


def test_a_message_of_another_name_is_not_an_answer(watched: Watched) -> None:
    """Programs may name their messages as they like."""
    watched.entries = [[0, "name.json", ""]]
    for _ in range(4):
        watched.step(3.3)
    assert len(watched.control.sent()) == 1


def test_a_throttle_that_names_costs_only_does_not_stop_it(watched: Watched) -> None:
    watched.in_force = {"throttle": {"update": 5, "match": 1}}
    for _ in range(2):
        watched.step(3.3)
    assert len(watched.control.sent()) == 1


def test_of_a_join_by_predicates_looks_are_what_costs(tmp_path: Path) -> None:
    watched = Watched(tmp_path, Seconds(0.2, 1e-6, 1e-6, 3e-5), looks=True)
    for _ in range(2):
        watched.step(9.0, looked=2_000_000_000)
    [name] = watched.control.sent()
    told = decode_message((watched.control.path / name).read_bytes())["throttle"]
    assert 0 < told["update"] < 1e-3 < told["match"]
    assert told["share"] < 0.5
