"""Shards that share a budget: it is kept, it goes where results are, and it repeats."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, Options, Within, local
from shedjoin.columns.census import Counts
from shedjoin.lab.workloads.workloads import Frequencies, zipf
from shedjoin.local.run import Run
from shedjoin.operators.frame.cell_sizes import CellSizes
from shedjoin.policies import Age, Fifo, Policy, Prob
from support.asked import asked

ROWS = 300
JOIN: dict[str, Any] = {
    "on": "key",
    "within": Within(before="300 seconds", after="300 seconds"),
    "time": ("left_time", "right_time"),
}
Batches = list[tuple[pa.Table, pa.Table]]


@lru_cache
def drifting(batches: int = 12) -> Batches:
    """A fifth of the keys changes every third of a window."""
    keys = Frequencies(3_000, 1.0, drift_s=100, drift_part=0.2, seed=103)
    return zipf(keys, rows=8_000, seconds=900, batches=batches, seed=103)


def few() -> Batches:
    """The first half of them."""
    return drifting()[:6]


def joined(shards: int, **settings: Any) -> Run:  # noqa: ANN401
    given: dict[str, Any] = {"budget": Budget(rows=ROWS), "collect": False} | settings
    tables = given.pop("tables", drifting())
    return local.join(tables, options=Options(shards=shards), **JOIN, **given)


def matched(run: Run) -> list[int]:
    return [batch.report.matched for batch in run.batches]


@lru_cache
def usual() -> list[int]:
    """Results of a few micro-batches on five shards."""
    return matched(joined(5, tables=few()))


@pytest.mark.parametrize(
    ("shards", "policy"), [(2, None), (7, None), (5, Fifo()), (3, Age())], ids=str
)
def test_the_shares_add_up_to_the_budget(shards: int, policy: Policy | None) -> None:
    """At the end of every micro-batch, whatever moved within it."""
    run = joined(shards, keep=policy)
    for batch in run.batches:
        assert batch.report.budget == ROWS
        assert sum(batch.report.resident) <= ROWS
    assert sum(run.batches[-1].report.resident) > 0.8 * ROWS


def test_a_budget_in_bytes_is_kept_to_the_byte() -> None:
    run = joined(5, budget=Budget(memory=40_000))
    for batch in run.batches:
        assert batch.report.budget == 40_000
        assert batch.report.state_bytes <= 40_000
    assert run.batches[-1].report.state_bytes > 20_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "batches", [3, pytest.param(24, marks=pytest.mark.long)], ids=str
)
def test_many_shards_keep_nearly_what_one_keeps(batches: int) -> None:
    """An equal division keeps half of it."""
    tables = drifting(batches)
    alone, shared = (sum(matched(joined(n, tables=tables))) for n in (1, 12))
    equal = Budget(rows=ROWS, by_shard=[1 / 12] * 12)
    divided = sum(matched(joined(12, tables=tables, budget=equal)))
    assert shared > 0.85 * alone
    assert divided < 0.75 * alone


def test_restarts_and_the_way_rows_come_change_nothing() -> None:
    for settings in ({"restart_every": 1}, {"blobs": 5, "shuffle_seed": 3}):
        assert matched(joined(5, tables=few(), **settings)) == usual()


def test_a_row_from_the_far_future_does_not_move_the_budget() -> None:
    first, *others = few()
    left, right = first
    at = left.schema.get_field_index("left_time")
    times = pa.array([4_000_000_000_000_000], left.schema.field(at).type)
    lone = left.slice(0, 1).set_column(at, left.schema.field(at), times)
    disturbed = [(pa.concat_tables([left, lone]), right), *others]
    found = sum(matched(joined(5, tables=disturbed)))
    assert found > 0.95 * sum(usual())


def test_an_equal_division_can_be_asked_for() -> None:
    equal = Budget(rows=ROWS, by_shard=[0.2] * 5)
    changed = joined(4, tables=few(), control={4: [{"budget": {"rows": 100}}]})
    assert matched(joined(5, tables=few(), budget=equal)) != usual()
    assert changed.batches[4].report.budget == 100
    assert sum(changed.batches[4].report.resident) <= 100


def test_frequent_keys_of_several_streams_get_room() -> None:
    tables = [
        {
            name: pa.table({"key": rows["key"], "t": rows[f"{side}_time"]})
            for name, side, rows in zip("ab", ("left", "right"), pair, strict=True)
        }
        for pair in drifting()
    ]
    budget = Budget(rows=ROWS)
    settings: dict[str, Any] = {"on": "key", "within": "300 seconds"}
    settings["time"] = {"a": "t", "b": "t"}

    def found(**given: Any) -> Run:  # noqa: ANN401
        return local.multijoin(tables, keep=Prob(), **asked({**settings, **given}))

    shared = found(shards=8, budget=budget)
    equal = found(shards=8, budget=Budget(rows=ROWS, by_shard=[1 / 8] * 8))
    assert all(batch.report.budget == ROWS for batch in shared.batches)
    assert shared.report.matched > 1.2 * equal.report.matched


def zipfian(name: str, batch: int, z: float, rng: np.random.Generator) -> pa.Table:
    """A thousand rows of a minute."""
    chance = 1 / np.arange(1, 3_001) ** z
    time = np.sort(rng.uniform(batch * 60, batch * 60 + 60, 1_000))
    return pa.table(
        {
            "key": rng.choice(3_000, 1_000, p=chance / chance.sum()),
            name: pa.array((time * 1e6).astype(np.int64), pa.timestamp("us")),
        }
    )


def test_narrow_rows_under_a_budget_in_bytes_get_room() -> None:
    """A row also takes a slot, which is most of it if it has few columns."""
    rng = np.random.default_rng(1)
    tables = [
        (
            zipfian("left_time", batch, 1.0, rng),
            zipfian("right_time", batch, 1.0, rng),
        )
        for batch in range(8)
    ]
    alone, shared = (
        sum(matched(joined(n, tables=tables, budget=Budget(memory=150_000))))
        for n in (1, 12)
    )
    assert shared > 0.9 * alone


def test_a_stream_without_frequent_keys_does_not_make_shares_equal() -> None:
    rng = np.random.default_rng(1)
    tables = [
        {
            name: zipfian(name, batch, z, rng)
            for name, z in zip("abc", (1, 1, 0), strict=True)
        }
        for batch in range(8)
    ]
    settings: dict[str, Any] = {
        "on": "key",
        "within": "300 seconds",
        "time": {name: name for name in "abc"},
        "budget": Budget(rows=1_000),
        "collect": False,
    }
    alone, shared = (
        local.multijoin(tables, options=Options(shards=n), **settings).report.matched
        for n in (1, 12)
    )
    assert shared > 0.85 * alone


def with_texts(frequent: int, rare: int) -> Batches:
    """Eight keys have half the rows; texts of so many bytes. Four windows, seed 3."""
    rng = np.random.default_rng(3)

    def table(name: str, batch: int) -> pa.Table:
        is_frequent = rng.random(250) < 0.5
        keys = rng.integers(0, 8, 250), rng.integers(100, 1100, 250)
        times = np.sort(rng.integers(batch * 30, batch * 30 + 30, 250)) * 1_000_000
        texts = ["x" * (frequent if is_one else rare) for is_one in is_frequent]
        return pa.table(
            {
                "key": np.where(is_frequent, *keys),
                name: pa.array(times, pa.timestamp("us")),
                f"{name}_text": texts,
            }
        )

    return [
        (table("left_time", batch), table("right_time", batch)) for batch in range(40)
    ]


@pytest.mark.parametrize(
    ("frequent", "rare", "part"),
    [pytest.param(10, 2_000, 0.97, marks=pytest.mark.long), (2_000, 10, 0.8)],
    ids=str,
)
def test_bytes_go_where_a_byte_brings_most(
    frequent: int, rare: int, part: float
) -> None:
    """Rows of frequent keys are much smaller or much larger than others."""
    tables, budget = with_texts(frequent, rare), Budget(memory=1_200_000)
    equal = Budget(memory=1_200_000, by_shard=[1 / 8] * 8)
    alone, shared, divided = (
        sum(matched(joined(shards, tables=tables, budget=each)))
        for shards, each in ((1, budget), (8, budget), (8, equal))
    )
    assert shared > part * alone
    assert shared > 1.05 * divided


def test_sizes_of_rows_are_those_of_the_last_windows() -> None:
    """Rows were small for long: that does not matter once they are large."""
    sizes = CellSizes(np.zeros(CellSizes.words(1, 2), np.int64), 1, 2)

    def window(size: int) -> None:
        nothing, rows = np.zeros(1, np.int64), np.array([1000])
        sizes.age(1)
        sizes.add(Counts(nothing, nothing, nothing, rows, rows * size))

    def of_one_row() -> int:
        return int(sizes.of(np.ones((1, 2), np.int64), 0)[0, 0])

    for _ in range(800):
        window(10)
    for _ in range(5):
        window(2000)
    assert of_one_row() > 1900
    window(0)  # the budget was in rows: nothing is known of the sizes
    assert of_one_row() > 1900


def test_a_message_in_bytes_divides_as_bytes_from_the_start_do() -> None:
    tables = with_texts(2_000, 10)[:12]
    message = {"budget": {"memory": 300_000}}
    from_the_start = joined(4, tables=tables, budget=Budget(memory=300_000))
    rows = Budget(rows=10_000_000)
    by_message = joined(4, tables=tables, budget=rows, control={0: [message]})
    assert matched(by_message) == matched(from_the_start)
