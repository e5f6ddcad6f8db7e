"""A memory budget for several streams, and for joins by predicates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from effort import cases
from oracle.bounded import Resident, Rules, Score, bounded_join
from oracle.predicates import predicate_join
from shedjoin import Band, Budget, MostImportant, MostResults, Where, local, policies
from shedjoin.errors import ParameterError
from shedjoin.operators.multiway import shedder
from shedjoin.spec.report import Report
from shedjoin.state import merging
from support.asked import asked
from support.recalls import known

from .predicates import Case, Condition

LEAST = 4


class ByKey(Case):
    """A random join by key alone."""

    def _conditions(self) -> list[Condition]:
        return [self._key()]


def case_of(seed: int) -> Case:
    """By key of three to five streams, or by predicates of two to five."""
    if seed % 3:
        return Case(seed)
    return ByKey(24 * seed + 6 * (1 + seed // 3 % 3))


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and segments so small that short streams have many of them."""
    monkeypatch.setattr(shedder, "_LEAST_ROWS", LEAST)
    monkeypatch.setattr(merging, "_SMALLEST_BYTES", 100)


def value(resident: Resident) -> float:
    """What the row is worth to Greedy: null is nothing."""
    return float(resident.row.values["k"] or 0)


SCORES: dict[str, Score] = {
    "Fifo": lambda r: (r.number, 0),
    "Recent": lambda r: (r.row.time_s, r.number),
    "UntilExpiry": lambda r: (-r.number, 0),
    "Greedy": lambda r: (value(r), -r.number),
}


def keep_of(name: str, case: Case) -> Any:  # noqa: ANN401  (a goal or a policy)
    if name != "Greedy":
        return getattr(policies, name)()
    importance = {stream: case.column(stream, "k") for stream in case.names}
    return MostImportant(importance, by=policies.Greedy())


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("first", range(0, 90, 30))
def test_equals_the_oracle(first: int, name: str) -> None:
    shed = 0
    for seed in range(first, first + cases(30)):
        case, rows = case_of(seed), seed % 17
        worth = value if name == "Greedy" else lambda _: 1.0
        rules = Rules(rows, LEAST, SCORES[name], worth)
        run = case.run(
            budget=Budget(rows=rows), keep=keep_of(name, case), restart_every=seed % 3
        )
        expected = bounded_join(case.batches, case.join, rules)
        for number, (batch, truth) in enumerate(
            zip(run.batches, expected, strict=True)
        ):
            place = seed, number
            assert case.results_of(batch) == truth.results, place
            assert batch.report.resident == truth.residents, place
            assert batch.report.shed == truth.shed, place
            assert batch.report.importance == truth.importance, place
            shed += sum(truth.shed)
    assert shed > 100


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_a_budget_that_suffices_sheds_nothing(first: int) -> None:
    for seed in range(first, first + cases(30)):
        case = case_of(seed)
        budget = Budget(rows=1000) if seed % 2 else Budget(memory="1 MB")
        run = case.run(budget=budget, restart_every=seed % 3, shards=1 + seed % 2 * 2)
        if case.conditions[0].named.get("a") != ["k"]:
            run = case.run(budget=budget, restart_every=seed % 3)
        expected = predicate_join(case.batches, case.join)
        found = [case.results_of(batch) for batch in run.batches]
        assert found == expected, seed
        assert run.report.recall == 1.0
        assert not any(run.report.shed)


def checked(
    run: local.Run, *, rows: int | None = None, size: int | None = None
) -> None:
    """Counts add up, and the budget holds after every micro-batch."""
    before = np.zeros(len(run.report.seen), np.int64)
    for batch in run.batches:
        report = batch.report
        seen, late, stored = map(np.array, (report.seen, report.late, report.stored))
        shed, expired = np.array(report.shed), np.array(report.expired)
        assert shed.sum() == report.refused + report.evicted
        assert (seen - late - stored).sum() == report.refused
        evicted = shed - (seen - late - stored)
        assert (before + stored - evicted - expired == report.resident).all()
        before = np.array(report.resident)
        assert rows is None or sum(report.resident) <= rows
        assert size is None or report.state_bytes <= size


def told(report: Report) -> Report:
    """What does not depend on where the state came from."""
    return replace(report, copy_hits=0, copy_misses=0)


@pytest.mark.parametrize("keep", [MostResults(), policies.Fifo(), policies.Rand(3)])
@pytest.mark.parametrize(
    "budget", [Budget(rows=9), Budget(memory=4000), Budget(rows=9, by_shard=(0.1, 0.9))]
)
def test_started_again_after_every_micro_batch(budget: Budget, keep: Any) -> None:  # noqa: ANN401
    for seed in range(0, 2 * cases(24), 2):
        case = case_of(seed)
        if budget.by_shard and case.conditions[0].named.get("a") != ["k"]:
            continue
        shards = 2 if budget.by_shard else 1
        settings: dict[str, Any] = {"budget": budget, "keep": keep, "shards": shards}
        one, other = case.run(**settings), case.run(**settings, restart_every=1)
        assert one.state_digests == other.state_digests, seed
        for a, b in zip(one.batches, other.batches, strict=True):
            assert repr(a.results.to_pydict()) == repr(b.results.to_pydict()), seed
            assert repr(told(a.report)) == repr(told(b.report)), seed  # NaN, too
        again = case.run(**settings, blobs=1)
        assert again.state_digests == one.state_digests
        checked(one, rows=budget.rows, size=None if budget.rows else 4000)


class Skewed(NamedTuple):
    """Streams with frequent keys, as tables of micro-batches."""

    batches: list[dict[str, pa.Table]]

    @staticmethod
    def of(names: str, rows: int, values: int, *, count: int = 10) -> Skewed:
        """Zipf's law with exponent 0.7; ``x`` lies around the key."""
        rng = np.random.default_rng(len(names) + rows)
        chance = 1 / np.arange(1, values + 1) ** 0.7
        batches = []
        for number in range(count):
            batch = {}
            for name in names:
                time = np.sort(rng.integers(number, number + 1, rows) * 10_000_000)
                time += np.sort(rng.integers(0, 10_000_000, rows))
                key = rng.choice(values, rows, p=chance / chance.sum()) * 7919 % 100_003
                columns = {
                    "t": pa.array(time, pa.timestamp("us")),
                    "k": key,
                    "x": key + rng.random(rows) / 2,
                    "id": np.arange(rows) + rows * number,
                    "note": [f"row {n}" for n in range(rows)],
                }
                batch[name] = pa.table(columns)
            batches.append(batch)
        return Skewed(batches)

    def run(self, on: object, **settings: Any) -> local.Run:  # noqa: ANN401
        """Join them."""
        names = list(self.batches[0])
        return local.multijoin(
            self.batches,
            on=on,  # type: ignore[arg-type]
            within="20 seconds",
            time=dict.fromkeys(names, "t"),
            **asked(settings),
        )


@pytest.mark.parametrize(
    ("names", "on", "rows"),
    [("abc", "k", 300), ("ab", Band("x", 0.4), 300), ("abc", Band("x", 0.4), 200)],
    ids=["three by key", "two by band", "three by band"],
)
def test_most_results_beat_the_first_in_first_out(
    names: str, on: object, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    streams = Skewed.of(names, rows, 500)
    exact = streams.run(on).report.matched
    budget = Budget(rows=2 * rows * len(names) // 6)
    best = streams.run(on, budget=budget).report
    fifo = streams.run(on, budget=budget, keep=policies.Fifo()).report
    assert best.matched > 1.5 * fifo.matched
    for report in (best, fifo):
        assert report.recall == pytest.approx(report.matched / exact, abs=0.15)


def test_recall_of_a_join_by_where_is_not_known() -> None:
    streams = Skewed.of("ab", 40, 500, count=3)
    on = Where("a.x", "<", "b.x")
    assert streams.run(on, budget=Budget(rows=20)).report.recall is None
    assert streams.run(on, budget=Budget(rows=500)).report.recall == 1.0


@pytest.mark.parametrize("on", ["k", Band("x", 0.4), Where("a.x", "<", "b.x")], ids=str)
def test_budgets_come_and_go(on: object) -> None:
    streams = Skewed.of("abc", 30, 20, count=8)
    if isinstance(on, Where):
        on = ["k", on]
    exact = streams.run(on)
    control = {3: [{"budget": {"rows": 60}}], 5: [{"budget": {"rows": 30}}]}
    run = streams.run(on, control=control)
    sizes = [sum(batch.report.resident) for batch in run.batches]
    assert sizes[2] > 60 >= sizes[3]
    assert max(sizes[5:]) <= 30
    for number, (one, other) in enumerate(zip(run.batches, exact.batches, strict=True)):
        rows, all_rows = (
            Counter(
                zip(*(b.results[f"id_{n}"].to_pylist() for n in "abc"), strict=True)
            )
            for b in (one, other)
        )
        assert rows <= all_rows
        assert rows == all_rows or number >= 3
    freed = streams.run(on, control=control | {6: [{"budget": "as started"}]})
    assert sum(freed.batches[-1].report.resident) > 60
    assert freed.batches[5].results.equals(run.batches[5].results)


def test_a_row_from_the_far_future_changes_little() -> None:
    streams = Skewed.of("abc", 200, 300)
    clean = streams.run("k", budget=Budget(rows=200)).report.matched
    strange = streams.batches[2]["b"].slice(0, 1)
    at = strange.schema.get_field_index("t")
    far = pa.array([4_000_000_000_000_000], pa.timestamp("us"))
    strange = strange.set_column(at, "t", far)
    batch = pa.concat_tables([streams.batches[2]["b"], strange])
    streams.batches[2] = streams.batches[2] | {"b": batch}
    run = streams.run("k", budget=Budget(rows=200))
    assert run.report.matched > 0.9 * clean
    assert run.report.ahead == 1


def test_one_huge_row_and_a_small_budget() -> None:
    streams = Skewed.of("abc", 40, 10, count=4)
    rows = streams.batches[1]["c"]
    at = rows.schema.get_field_index("note")
    notes = ["x" * 50_000, *rows["note"].to_pylist()[1:]]
    streams.batches[1]["c"] = rows.set_column(at, "note", pa.array(notes))
    for keep in (MostResults(), policies.Fifo()):
        run = streams.run("k", budget=Budget(memory=8000), keep=keep, restart_every=1)
        checked(run, size=8000)
        assert run.report.matched > 0
        assert known(run.report) < 1


def test_nothing_comes() -> None:
    streams = Skewed.of("abc", 30, 10, count=3)
    empty = {name: table.slice(0, 0) for name, table in streams.batches[0].items()}
    streams.batches.insert(1, empty)
    streams.batches.insert(0, empty)
    run = streams.run("k", budget=Budget(rows=50), restart_every=1)
    checked(run, rows=50)
    assert run.batches[2].report.seen == (0, 0, 0)
    assert sum(run.batches[2].report.resident) > 0


@pytest.mark.long
def test_state_does_not_grow_with_those_who_left() -> None:
    streams = Skewed.of("abc", 60, 50, count=60)
    run = streams.run("k", budget=Budget(rows=100), keep=policies.Rand())
    held = [batch.report.state_bytes for batch in run.batches]
    written = [batch.report.written_bytes for batch in run.batches]
    segments = [batch.report.segments for batch in run.batches]
    assert max(held[30:]) < 1.5 * max(held[10:30])
    assert max(written[30:]) < 1.5 * max(written[10:30])
    assert max(segments) < 60


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"budget": Budget(cpu=0.5)}, "limited in memory only"),
        ({"budget": Budget(rows=5, cpu=0.5)}, "limits memory and time"),
        ({"budget": Budget(rows=5), "keep": MostImportant("k")}, "by pairs"),
        ({"budget": Budget(rows=5), "keep": policies.Size()}, "by pairs"),
        ({"budget": Budget(rows=5), "keep": policies.ValuePni()}, "saves work only in"),
        ({"budget": Budget(rows=5, split=0.5)}, "has 2 parts for 3 streams"),
        (
            {
                "budget": Budget(rows=5),
                "keep": MostImportant({"d": "k"}, by=policies.Greedy()),
            },
            "importance of 'd'",
        ),
    ],
)
def test_what_does_not_fit(settings: dict[str, Any], match: str) -> None:
    streams = Skewed.of("abc", 3, 3, count=1)
    with pytest.raises(ParameterError, match=match):
        streams.run("k", **settings)
