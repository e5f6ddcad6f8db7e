"""What may change between two starts of a query, and what may not, without Spark.

The rows of docs/restarts.md: each is a test here or in tests/spark/test_checkpoints.py.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, MostResults, Sample, Within, local
from shedjoin.columns.ipc import encode_rows
from shedjoin.errors import StateMismatchError
from shedjoin.local.delivery import Delivery
from shedjoin.local.shard import LocalShard, MemoryBlobs
from shedjoin.operators.budgeted.join import BudgetedJoin
from shedjoin.policies import EqCluster, Fifo, Greedy, IJoin, PpsCluster, Prob, Uniform
from shedjoin.policies.goals import shedding_of, values_of
from shedjoin.spec.recompute import DEFAULT, Successive
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec
from shedjoin.state.blobs import DIRECTORY
from shedjoin.state.directory import split_token
from support.specs import make_spec

TIMES = ("shown_at", "clicked_at")
BATCHES = local.clicks(impressions=6_000, batches=14, seed=8)
ROWS = Budget(rows=300)
Results = Counter[tuple[object, ...]]


class Start(NamedTuple):
    """One start of the query."""

    keep: object = None
    budget: Budget | None = ROWS
    seed: int = 0
    recompute: object = DEFAULT
    large: bool = False

    @property
    def spec(self) -> JoinSpec:
        """The join."""
        schemas = (self.tables(0)[0].schema, self.tables(0)[1].schema)
        within, names = Within(after="15 minutes"), ("_l", "_r")
        spec = make_spec(_small(schemas), "ad_id", within, TIMES, 1, names)
        return spec.with_shedding(
            shedding_of(
                self.budget,
                self.keep,  # type: ignore[arg-type]
                discipline="probe_then_insert",
                recompute=self.recompute,  # type: ignore[arg-type]
                seed=self.seed,
            )
        )

    def tables(self, number: int) -> tuple[pa.Table, pa.Table]:
        """A micro-batch with a column of text, wide or narrow as a setting says."""
        left, right = BATCHES[number]
        words = [f"ad {n}" for n in left["ad_id"].to_pylist()]
        text = pa.array(words, pa.large_string() if self.large else pa.string())
        return left.append_column("text", text), right


def _small(schemas: tuple[pa.Schema, pa.Schema]) -> tuple[pa.Schema, pa.Schema]:
    left = schemas[0]
    return left.set(left.get_field_index("text"), pa.field("text", pa.string())), (
        schemas[1]
    )


def go_on(
    start: Start, blobs: MemoryBlobs, numbers: range
) -> tuple[Results, list[Report]]:
    """Start from stored state and run some micro-batches, restarting in between."""
    spec = start.spec
    shard = LocalShard(spec, 0)
    shard.blobs = blobs
    source = values_of(start.keep)  # type: ignore[arg-type]
    delivery = Delivery(importance=(source, None))
    results: Results = Counter()
    reports = []
    for number in numbers:
        shard.restart()
        arrived = [blob for _, blob in delivery.deliver(start.tables(number), spec)]
        outcome = shard.run(arrived, 0)
        for batch in outcome.results:
            names = ["ad_id", "shown_at", "clicked_at", "text"]
            columns = (batch.column(name).to_pylist() for name in names)
            results.update(zip(*columns, strict=True))
        reports.append(outcome.report)
    return results, reports


EXACT, _ = go_on(Start(budget=None), MemoryBlobs(), range(14))


def restarted(*starts: Start) -> tuple[Results, list[Report]]:
    """Start the query several times on one checkpoint."""
    blobs = MemoryBlobs()
    total: Results = Counter()
    reports: list[Report] = []
    cuts = [14 * place // len(starts) for place in range(len(starts) + 1)]
    for start, low, high in zip(starts, cuts, cuts[1:], strict=False):
        results, told = go_on(start, blobs, range(low, high))
        total += results
        reports += told
    return total, reports


IMPORTANT = MostImportant("bid")
BY_VALUE = Sample(of="bid")
MAY_CHANGE = {
    "policy": (Start(Fifo()), Start(Prob()), Start(MostResults())),
    "importance comes": (Start(Prob()), Start(IMPORTANT)),
    "importance goes": (Start(IMPORTANT), Start(Prob())),
    "importance comes and goes": (Start(), Start(IMPORTANT), Start(), Start(IJoin())),
    "more rows": (Start(Prob()), Start(Prob(), Budget(rows=900))),
    "fewer rows": (Start(Prob()), Start(Prob(), Budget(rows=40))),
    "rows to bytes": (Start(Prob()), Start(Prob(), Budget(memory="90 kB"))),
    "bytes to rows": (Start(Prob(), Budget(memory="90 kB")), Start(Prob())),
    "split": (Start(Prob()), Start(Prob(), Budget(rows=300, split=0.7))),
    "pooled": (Start(Prob(), Budget(rows=300, split=0.7)), Start(Prob())),
    "seed": (Start(Prob(), seed=1), Start(Prob(), seed=2)),
    "recomputation": (Start(), Start(recompute=Successive())),
    "no sample any more": (Start(Sample()), Start(Prob())),
    "another sample": (Start(EqCluster(4)), Start(PpsCluster(4))),
    "a value comes and goes": (Start(Sample()), Start(BY_VALUE), Start(Sample())),
    "wide text": (Start(), Start(large=True), Start(), Start(large=True)),
}


@pytest.mark.parametrize("starts", MAY_CHANGE.values(), ids=MAY_CHANGE.keys())
def test_what_may_change(starts: tuple[Start, ...]) -> None:
    """Nothing fails, nothing is invented, and the new budget holds at once."""
    found, reports = restarted(*starts)
    assert found <= EXACT
    assert found.total() > 0.1 * EXACT.total()
    last, first = starts[-1], starts[0]
    half = reports[14 // len(starts) :]
    assert last.budget is not None
    assert first.budget is not None
    for report in half if len(starts) == 2 else []:
        held = report.resident[0] + report.resident[1]
        if last.budget.in_bytes:
            assert report.state_bytes <= last.budget.share(0, 1)
        else:
            assert held <= last.budget.share(0, 1)
            assert held > 0.3 * min(
                x.budget.share(0, 1)
                for x in starts
                if x.budget and not x.budget.in_bytes
            )


def test_a_smaller_budget_holds_without_arrivals() -> None:
    blobs = MemoryBlobs()
    go_on(Start(Prob()), blobs, range(7))
    shard = LocalShard(Start(Prob(), Budget(rows=20)).spec, 0)
    shard.blobs = blobs
    shard.restart()
    report = shard.run([], 0).report
    assert report.resident[0] + report.resident[1] == 20
    assert report.evicted > 100


def test_a_smaller_budget_sheds_equal_rows_as_the_policy_says() -> None:
    """Of rows that are worth the same, Greedy lets the newest go: the first stay."""
    blobs = MemoryBlobs()
    go_on(Start(Greedy(), Budget(rows=10_000)), blobs, range(2))
    shard = LocalShard(Start(Greedy(), Budget(rows=20)).spec, 0)
    shard.blobs = blobs
    shard.restart()
    shard.run([], 0)
    join = shard.join
    assert isinstance(join, BudgetedJoin)
    numbers = join.store.table.numbers[join.store.table.alive()]
    assert sorted(numbers.tolist()) == list(range(20))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Start(), Start(Sample())),
        (Start(Prob()), Start(EqCluster())),
        (Start(EqCluster(1)), Start(EqCluster(2))),
        (Start(Sample(), seed=1), Start(Sample(), seed=2)),
        (Start(Uniform(0.1, seed=3)), Start(EqCluster(3))),
        (Start(EqCluster(3)), Start(Uniform(0.1, seed=3))),
        (Start(EqCluster(3)), Start(EqCluster(3), Budget(rows=300, split=0.5))),
        (Start(EqCluster(3), Budget(rows=300, split=0.5)), Start(EqCluster(3))),
    ],
    ids=[
        "goal",
        "policy",
        "seed of the policy",
        "seed of the join",
        "coins go",
        "coins come",
        "split comes",
        "split goes",
    ],
)
def test_a_sample_of_other_rows_is_refused(first: Start, second: Start) -> None:
    blobs = MemoryBlobs()
    go_on(first, blobs, range(2))
    with pytest.raises(StateMismatchError, match="this query wants a sample") as caught:
        go_on(second, blobs, range(2, 3))
    assert "new checkpointLocation, or restore the old keep=" in caught.value.fix


@pytest.mark.parametrize("first", [Start(Prob()), Start(EqCluster(3))])
def test_a_sample_after_a_budget_that_went_is_refused(first: Start) -> None:
    blobs = MemoryBlobs()
    go_on(first, blobs, range(2))
    go_on(Start(budget=None), blobs, range(2, 4))
    with pytest.raises(StateMismatchError, match="holds rows without weights"):
        go_on(Start(EqCluster(3)), blobs, range(4, 5))


def test_who_has_no_room_any_more_meets_nobody() -> None:
    """A smaller budget sheds before the first arrival is joined."""
    blobs = MemoryBlobs()
    go_on(Start(Fifo()), blobs, range(7))
    results, reports = go_on(Start(Fifo(), Budget(rows=0)), blobs, range(7, 8))
    assert not results
    assert reports[0].evicted == 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "budgets",
    [
        (Budget(rows=300), Budget(rows=60)),
        (Budget(rows=300, split=0.5), Budget(rows=300, split=0.9)),
    ],
    ids=["smaller", "split"],
)
def test_weights_hold_after_a_budget_changed(budgets: tuple[Budget, Budget]) -> None:
    """Mean of 30 seeds against the truth, within three standard errors."""
    weights = []
    for seed in range(30):
        blobs = MemoryBlobs()
        for budget, numbers in zip(budgets, (range(6), range(6, 7)), strict=True):
            _, reports = go_on(Start(EqCluster(seed), budget), blobs, numbers)
        weights.append(reports[0].weight)
    blobs = MemoryBlobs()
    go_on(Start(budget=None), blobs, range(6))
    truth = go_on(Start(budget=None), blobs, range(6, 7))[1][0].matched
    error = float(np.std(weights)) / len(weights) ** 0.5
    assert abs(float(np.mean(weights)) - truth) < 3 * error
    assert error < 0.2 * truth


def test_state_of_the_first_format_with_a_budget_is_refused() -> None:
    blobs = MemoryBlobs()
    go_on(Start(Fifo()), blobs, range(2))
    _, arrow = split_token(blobs.get(DIRECTORY) or b"")
    with pa.ipc.open_stream(arrow) as reader:
        facts = json.loads(reader.schema.metadata[b"shedjoin"]) | {"format": 1}
        schema = reader.schema.with_metadata({b"shedjoin": json.dumps(facts)})
        segments = reader.read_all().cast(schema).to_batches()
    blobs.put(DIRECTORY, encode_rows(segments, schema).to_pybytes())
    with pytest.raises(StateMismatchError, match="state of format 1"):
        go_on(Start(Fifo()), blobs, range(2, 3))


AMPLE = Budget(rows=1_000_000)


@pytest.mark.parametrize(
    "keep",
    [Prob(), Fifo(), EqCluster(), MostImportant("bid")],
    ids=lambda keep: type(keep).__name__,
)
def test_a_budget_comes_and_goes(keep: object) -> None:
    """As long as it suffices, no row is lost."""
    exact, limited = Start(budget=None), Start(keep, AMPLE)
    for plan in ((exact, limited, exact), (limited, exact, limited)):
        blobs, found = MemoryBlobs(), Counter[object]()
        for start, numbers in zip(
            plan, (range(4), range(4, 9), range(9, 14)), strict=True
        ):
            results, reports = go_on(start, blobs, numbers)
            found += results
            assert sum(sum(report.shed) for report in reports) == 0
        assert found == EXACT


def test_a_small_budget_comes_and_goes() -> None:
    """Who finds no room is shed and counted; later arrivals all stay again."""
    blobs = MemoryBlobs()
    _, before = go_on(Start(budget=None), blobs, range(6))
    results, during = go_on(Start(Prob(), Budget(rows=20)), blobs, range(6, 10))
    assert max(sum(report.resident) for report in during) <= 20
    first = during[0]
    held = sum(before[-1].resident) + sum(first.seen)
    assert held == sum(first.shed) + sum(first.expired) + sum(first.resident)
    more, after = go_on(Start(budget=None), blobs, range(10, 14))
    assert sum(after[0].resident) > 20
    assert not (results + more) - EXACT
