"""Joins through a relation under a budget, with input that does them no favours."""

from __future__ import annotations

import time as clock
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Within, local
from shedjoin.columns.relating import Related
from shedjoin.errors import ColumnTypeError
from shedjoin.local.shard import LocalShard
from shedjoin.operators.choice import open_join
from shedjoin.operators.frame import ordered
from shedjoin.operators.frame.join import Opening, stored_directory
from shedjoin.operators.star.relation import Relation
from shedjoin.policies import Dgl, Fifo, Policy, Simp
from shedjoin.spec.shedding import Discipline
from shedjoin.state.workspace import MemoryWorkspace
from support.related import star_join

SECOND = 1_000_000
ON = (("a", "a"), ("b", "b"))
HOUR = Within(before="1 hour", after="1 hour")
DISCIPLINES: list[Discipline] = [
    "probe_then_insert",
    "shed_then_join",
    "shed_then_probe",
    "probe_then_shed",
]
Rows = list[tuple[float, int]]
"""(second, key)"""
Facts = list[tuple[int, int, float | None, float | None]]
"""(left key, right key, begin, end)"""


def times(seconds: list[Any], zone: str | None = None) -> pa.Array:
    found = [None if s is None else round((1000 + s) * SECOND) for s in seconds]
    return pa.array(found, pa.timestamp("us", zone))


def rows(key: str, given: Rows, worth: list[float] | None = None) -> pa.Table:
    return pa.table(
        {
            "t": times([at for at, _ in given]),
            key: pa.array([value for _, value in given], pa.int64()),
            f"{key}_at": pa.array([at for at, _ in given], pa.float64()),
            "worth": pa.array(worth or [1.0] * len(given), pa.float64()),
        }
    )


def facts(given: Facts) -> pa.Table:
    a, b, begin, end = ([row[place] for row in given] for place in range(4))
    keys = pa.array(a, pa.int64()), pa.array(b, pa.int64())
    return pa.table([*keys, times(begin), times(end)], ["a", "b", "from", "to"])


def joined(
    batches: list[Any],
    policy: Policy,
    budget: Budget,
    **more: Any,  # noqa: ANN401
) -> local.Run:
    settings: dict[str, Any] = {"within": HOUR, "lateness": "1 hour"} | more
    return star_join(
        batches,
        facts([]),
        on=ON,
        time=("t", "t"),
        valid=("from", "to"),
        budget=budget,
        keep=MostImportant("worth", by=policy),
        **settings,
    )


def pairs(run: local.Run) -> Counter[tuple[float, float]]:
    found = (run.results[name].to_pylist() for name in ("a_at", "b_at"))
    return Counter(zip(*found, strict=True))


def short_lived(skew: int, *, future: bool) -> float:
    """Importance found where dear keys are related for ten seconds at a time.

    The right stream comes some micro-batches after the left one.
    """
    rng, count, per = np.random.default_rng(0), 1500, 50
    streams = []
    for key in "ab":
        keys = rng.integers(0, 20, count)
        at = np.arange(count) / 10
        worth = np.where(keys < 10, 100.0, 1.0).tolist()
        given = list(zip(at.tolist(), keys.tolist(), strict=True))
        streams.append((key, given, worth))
    relation: Facts = [
        (key, key, begin, begin + 10)
        for key in range(10)
        for begin in range(0, 150, 10)
    ]
    relation += [(key, key, None, None) for key in range(10, 20)]
    batches = []
    for number in range(count // per + skew):
        own = []
        for (key, given, worth), late in zip(streams, (0, skew), strict=True):
            place = number - late
            part = slice(per * place, per * (place + 1)) if place >= 0 else slice(0)
            own.append(rows(key, given[part], worth[part]))
        if future and number == 0:
            own[0] = pa.concat_tables([rows("a", [(1e6, 500)], [0.0]), own[0]])
        batches.append((*own, facts(relation if number == 0 else [])))
    run = joined(batches, Simp(), Budget(rows=200), lateness="1 minute")
    assert run.report.late == (0, 0)
    return run.report.importance


def test_one_row_from_the_future_ends_no_relation_rows() -> None:
    assert short_lived(0, future=True) > 0.95 * short_lived(0, future=False)


def test_a_stream_that_comes_later_ends_no_relation_rows() -> None:
    at_once = short_lived(0, future=False)
    for skew in (2, 6):
        assert short_lived(skew, future=False) > 0.8 * at_once


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_who_leaves_does_not_depend_on_micro_batches(discipline: Discipline) -> None:
    """Rows in order; at the end the relation row is sent again with a later end."""
    count, told = 40, []
    given = [(float(at), 1 if at < 6 else 9) for at in range(count)]
    for cuts in ([], [20], [8, 16, 24, 32], list(range(1, count))):
        batches = []
        for low, high in zip([0, *cuts], [*cuts, count], strict=True):
            own = given[low:high]
            left, right = (
                [row for row in own if row[0] % 2 == side] for side in (0, 1)
            )
            new: Facts = [(1, 1, -1, 10)] if low == 0 else []
            batches.append((rows("a", left), rows("b", right), facts(new)))
        last: Rows = [(count, 1)]
        again = facts([(1, 1, -1, 1000)])
        batches.append((rows("a", last), rows("b", last), again))
        run = joined(batches, Fifo(), Budget(rows=3), discipline=discipline)
        report = run.report
        told.append((pairs(run), report.refused, report.outlived, report.evicted))
    assert all(each == told[0] for each in told)


def test_blocks_follow_the_relation_that_is_there() -> None:
    """Another relation with as many rows is another one."""
    relation = Relation(MemoryWorkspace(), 0, 0)
    same, other = np.zeros(50, np.int64), np.arange(50)
    always, none = np.full(50, 1 << 40), np.zeros(50, np.bool_)
    relation.append(Related(same, other, -always, always, none))
    assert relation.most == 50
    relation.clear()
    relation.append(Related(other, other, -always, always, none))
    assert relation.most == 1


@pytest.mark.parametrize("size", [10, 65, 1000])
def test_all_of_an_instant_meet_before_any_is_shed(size: int) -> None:
    for order in (1, -1):
        many = [(5.0, key) for key in range(size)][::order]
        batches = [
            (
                rows("a", []),
                rows("b", [(0.0, 7)]),
                facts([(k, 7, None, None) for k in range(size)]),
            ),
            (rows("a", many), rows("b", [(5.0, 7)]), facts([])),
        ]
        run = joined(batches, Fifo(), Budget(rows=1), discipline="probe_then_shed")
        assert run.report.matched == 2 * size


@pytest.mark.parametrize("discipline", ["shed_then_probe", "probe_then_shed"])
def test_an_instant_is_not_cut_unless_it_is_large(
    discipline: Discipline, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Rows = [(float(at), at % 3) for at in range(9) for _ in range(4)]
    batch = (
        rows("a", given),
        rows("b", given),
        facts([(k, k, None, None) for k in range(3)]),
    )
    whole = joined([batch], Fifo(), Budget(rows=5), discipline=discipline)
    monkeypatch.setattr(ordered, "PART_ROWS", 11)
    cut = joined([batch], Fifo(), Budget(rows=5), discipline=discipline)
    assert pairs(cut) == pairs(whole)
    assert cut.report.matched >= 9 * 4 * 4


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_an_instant_of_many_rows_takes_no_longer(discipline: Discipline) -> None:
    """By pairs of rows it would take minutes."""
    many: Rows = [(0.0, key) for key in range(40_000)]
    relation = facts([(1, 1, None, None)])
    joined(
        [(rows("a", many[:5]), rows("b", many[:5]), relation)],
        Fifo(),
        Budget(rows=9),
        discipline=discipline,
    )
    began = clock.perf_counter()
    joined(
        [(rows("a", many), rows("b", many), relation)],
        Fifo(),
        Budget(rows=100),
        discipline=discipline,
    )
    assert clock.perf_counter() - began < 10


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("delay", ["0 seconds", "1 hour"])
def test_who_has_had_relation_rows_does_not_wait_for_others(
    fixed: bool, delay: str
) -> None:
    left: Rows = [(0, 2), (1, 1), (3, 2)]
    right: Rows = [(0, 3), (1, 3), (2.5, 3), (5, 2)]
    relation: Facts = [(1, 2, -1, 2), (2, 2, -1, 100), (9, 3, -1, 100)]
    tables = rows("a", left), rows("b", right)
    run = star_join(
        [tables if fixed else (*tables, facts([]))],
        facts(relation),
        on=ON,
        within=HOUR,
        time=("t", "t"),
        valid=("from", "to"),
        delay=delay,
        budget=Budget(rows=4, split=0.5),
        keep=Fifo(),
    )
    assert set(pairs(run)) == {(0, 5), (3, 5)}
    assert run.report.outlived == 1


@pytest.mark.parametrize("budget", [None, Budget(rows=100)])
def test_an_end_that_is_moved_too_late_is_counted(budget: Budget | None) -> None:
    """The row that it relates again has left with the end of before."""
    batches = [
        (rows("a", [(0, 1)]), rows("b", [(0, 9)]), facts([(1, 1, 0, 5)])),
        (rows("a", [(6, 9)]), rows("b", [(6, 9)]), facts([])),
        (rows("a", [(6.5, 9)]), rows("b", [(6.5, 9)]), facts([])),
        (rows("a", []), rows("b", []), facts([(1, 1, 0, 20)])),
        (rows("a", []), rows("b", [(7, 1)]), facts([])),
    ]
    settings: dict[str, Any] = {"delay": "5 seconds", "budget": budget}
    for delay, late in (("5 seconds", 1), ("60 seconds", 0)):
        settings["delay"] = delay
        run = star_join(
            *(batches, facts([])),
            on=ON,
            within=Within(after="10 seconds"),
            time=("t", "t"),
            valid=("from", "to"),
            **settings,
        )
        assert run.report.changes_late == late
        assert run.report.matched == 1 - late


def test_recall_is_not_known_while_the_relation_comes_and_goes() -> None:
    """Models would take pairs for lost that were never related."""
    given: Rows = [(at / 2, at % 4) for at in range(1000)]
    for life, is_known in ((2, False), (1000, True)):
        relation: Facts = [
            (key, key, begin, begin + life)
            for key in range(4)
            for begin in range(0, 500, life)
        ]
        batch = rows("a", given), rows("b", given), facts(relation)
        run = joined(
            [batch], Fifo(), Budget(rows=100), within=Within(after="100 seconds")
        )
        assert any(run.report.shed)
        assert (run.report.recall is not None) == is_known


def test_a_window_that_begins_after_its_row() -> None:
    given: Rows = [(at, at % 2) for at in range(9)]
    batch = (
        rows("a", given),
        rows("b", given),
        facts([(0, 0, None, None), (1, 1, None, None)]),
    )
    within = Within(before="-1 second", after="4 seconds")
    run = joined([batch, batch], Dgl(), Budget(rows=5), within=within)
    assert run.report.matched


def test_a_longer_delay_at_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on from the copy of its state; who has left does not come back."""

    def restart(self: LocalShard) -> None:
        relation = self._spec.relation
        assert relation is not None
        spec = replace(self._spec, relation=replace(relation, delay_us=1000 * SECOND))
        directory = stored_directory(self.blobs, spec)
        assert directory is not None
        kept = self.join.payload._workspace
        opening = Opening(spec, 0, self.blobs, directory, kept, opened=True)
        self._spec, self._token = spec, directory.token
        self.join = open_join(opening)

    monkeypatch.setattr(LocalShard, "restart", restart)
    batches: list[Any] = [
        (
            rows("a", [(at, 1)]),
            rows("b", [(at, 1)]),
            facts([(5, 5, 0, None)] if at == 100 else []),
        )
        for at in (100.0, 1.0, 130.0, 131.0, 132.0)
    ]
    batches.append(
        (rows("a", [(133, 1)]), rows("b", [(133, 1)]), facts([(1, 1, None, None)]))
    )
    run = star_join(
        *(batches, facts([])),
        on=ON,
        within=Within(before="10 seconds", after="10 seconds"),
        time=("t", "t"),
        valid=("from", "to"),
        lateness="110 seconds",
        restart_every=5,
    )
    times = (100.0, 130.0, 131.0, 132.0, 133.0)
    near = {(a, b) for a in times for b in times if abs(a - b) <= 10}
    assert set(pairs(run)) <= near
    assert (133.0, 133.0) in pairs(run)


def test_times_with_and_without_a_zone() -> None:
    relation = facts([(1, 1, 0, 5)]).set_column(2, "from", times([0], "UTC"))
    with pytest.raises(ColumnTypeError, match="with a time zone, or both without"):
        star_join(
            *([(rows("a", []), rows("b", []))], relation),
            on=ON,
            within=HOUR,
            time=("t", "t"),
            valid=("from", "to"),
        )
