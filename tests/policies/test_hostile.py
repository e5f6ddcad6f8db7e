"""Rows from the future, chosen keys, the ends of time: hostile input under a budget."""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shedjoin import Budget, MostResults, Within, local
from shedjoin.errors import ColumnTypeError
from shedjoin.local.delivery import Delivery
from shedjoin.local.run import Run
from shedjoin.local.shard import LocalShard
from shedjoin.operators.frame.join import BEGINNING_MS
from shedjoin.policies import Age, Fifo, IJoin, Policy, Prob, Residents
from shedjoin.policies.goals import shedding_of
from shedjoin.types import FloatArray
from support.recalls import known
from support.specs import make_spec

pytestmark = pytest.mark.xdist_group("hostile")  # tests share joins that are run once
MICROSECONDS = pa.timestamp("us", "UTC")
YEAR_2096_US = 3_976_000_000_000_000
JOIN: dict[str, Any] = {
    "on": "key",
    "within": Within(before="60 seconds", after="60 seconds"),
    "time": ("l_time", "r_time"),
}


def zipf_stream(side: str, seed: int, rows: int = 20_000) -> list[pa.Table]:
    """Keys of which few are frequent, over ten minutes, in twenty micro-batches."""
    rng = np.random.default_rng(seed)
    start = 1_700_000_000_000_000
    when = np.sort(rng.integers(0, 600_000_000, rows)) + start
    key = np.minimum(rng.zipf(1.3, rows), 5_000)
    table = pa.table(
        {
            "key": key,
            f"{side}_time": pa.array(when, MICROSECONDS),
            f"{side}_id": np.arange(rows),
        }
    )
    size = rows // 20
    return [table.slice(first, size) for first in range(0, rows, size)]


def with_row(table: pa.Table, time_us: int) -> pa.Table:
    """One more row, of a key that nobody has."""
    names = table.column_names
    row = [
        pa.array([-5], table.schema.field(0).type),
        pa.array([time_us], pa.int64()).cast(MICROSECONDS),
        pa.array([-1], pa.int64()),
    ]
    return pa.concat_tables([table, pa.table(dict(zip(names, row, strict=True)))])


LEFT, RIGHT = zipf_stream("l", 1), zipf_stream("r", 2)
EXACT = local.join(zip(LEFT, RIGHT, strict=True), **JOIN).report.matched


def recall(run: Run) -> float:
    return run.report.matched / EXACT


@functools.cache
def undisturbed(policy: Policy | MostResults) -> Run:
    batches = zip(LEFT, RIGHT, strict=True)
    return local.join(batches, **JOIN, budget=Budget(rows=400), keep=policy)


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("lead_us", [YEAR_2096_US, None], ids=["2096", "half a window"])
@pytest.mark.parametrize("side", [0, 1], ids=["left", "right"])
@pytest.mark.parametrize(
    "policy",
    [
        MostResults(),
        pytest.param(IJoin(), marks=pytest.mark.long),
        pytest.param(Prob(), marks=pytest.mark.long),
        pytest.param(Age(), marks=pytest.mark.long),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_one_row_from_the_future(
    policy: Policy | MostResults, side: int, lead_us: int | None, number: int
) -> None:
    """It changes the recall by less than 0.01, and the estimate likewise."""
    batches = list(zip(LEFT, RIGHT, strict=True))
    usual = undisturbed(policy)
    when = lead_us or 1_700_000_030_000_000 + 30_000_000 * (1 + number)
    hostile = list(batches[number])
    hostile[side] = with_row(hostile[side], when)
    batches[number] = hostile[0], hostile[1]
    found = local.join(batches, **JOIN, budget=Budget(rows=400), keep=policy)
    assert abs(recall(found) - recall(usual)) < 0.01
    assert abs(known(found.report) - known(usual.report)) < 0.02
    assert found.report.ahead - usual.report.ahead == (lead_us is not None)


@pytest.mark.parametrize(
    "policy",
    [Prob(), MostResults(), IJoin()],
    ids=lambda policy: type(policy).__name__,
)
def test_a_first_row_from_the_future(policy: Policy | MostResults) -> None:
    """It comes before all others, in a micro-batch of its own."""
    batches = list(zip(LEFT, RIGHT, strict=True))
    alone = with_row(LEFT[0].slice(0, 0), YEAR_2096_US), RIGHT[0].slice(0, 0)
    usual, budget = undisturbed(policy), Budget(rows=400)
    found = local.join([alone, *batches], **JOIN, budget=budget, keep=policy)
    assert abs(recall(found) - recall(usual)) < 0.01
    assert abs(known(found.report) - known(usual.report)) < 0.02


@pytest.mark.parametrize("policy", [Fifo(), Prob(), MostResults(), Age()], ids=str)
def test_before_1970_is_as_after(policy: Policy | MostResults) -> None:
    """A batch join of old rows, in which nothing is late."""
    shift = 60 * 365 * 86_400_000_000

    def moved(table: pa.Table, name: str) -> pa.Table:
        time = pc.subtract(table[name].cast(pa.int64()), shift).cast(MICROSECONDS)
        return table.set_column(table.column_names.index(name), name, time)

    shards = []
    for old in (False, True):
        sides = pa.concat_tables(LEFT), pa.concat_tables(RIGHT)
        if old:
            sides = moved(sides[0], "l_time"), moved(sides[1], "r_time")
        schemas = sides[0].schema, sides[1].schema
        names = ("_l", "_r")
        spec = make_spec(schemas, "key", JOIN["within"], JOIN["time"], 1, names)
        shedding = shedding_of(Budget(rows=400), policy)
        spec = spec.with_shedding(shedding)
        shard = LocalShard(spec, 0, bucket_seed=0)
        blobs = [blob for _, blob in Delivery().deliver(sides, spec)]
        shard.join.store.watermark_ms = BEGINNING_MS
        shards.append(shard.run(blobs, BEGINNING_MS).report)
    assert shards[0].matched == shards[1].matched > 1000
    assert shards[0].outlived == shards[1].outlived


class Careless(Fifo):
    """Works in the arrays that it is given."""

    def score(self, residents: Residents) -> FloatArray:
        key = residents.key
        key %= 10
        return super().score(residents)

    def first_score(self, arrivals: Residents) -> FloatArray:
        return self.score(arrivals)


def test_a_policy_that_works_in_place_invents_nothing() -> None:
    batches = list(zip(LEFT, RIGHT, strict=True))[:6]
    budget = Budget(rows=400)
    found = local.join(batches, **JOIN, budget=budget, keep=Careless())
    usual = local.join(batches, **JOIN, budget=budget, keep=Fifo())
    assert found.results.equals(usual.results)


def test_rows_ahead_are_counted_without_a_budget() -> None:
    batches = [
        (with_row(LEFT[0], YEAR_2096_US), RIGHT[0]),
        (LEFT[1], with_row(RIGHT[1], YEAR_2096_US)),
        (LEFT[2], RIGHT[2]),
    ]
    reports = [batch.report for batch in local.join(batches, **JOIN).batches]
    assert reports[0].ahead == 1


def chosen_keys(count: int) -> pa.Array:
    """Keys whose unseeded hashes share all their low bits, and so one bucket."""
    bits = np.arange(count, dtype=np.uint64) << np.uint64(34)
    factors = (0x94D049BB133111EB, 0xBF58476D1CE4E5B9)
    inverses = [pow(factor, -1, 1 << 64) for factor in factors]
    with np.errstate(over="ignore"):
        bits ^= (bits >> np.uint64(31)) ^ (bits >> np.uint64(62))
        bits *= np.uint64(inverses[0])
        bits ^= (bits >> np.uint64(27)) ^ (bits >> np.uint64(54))
        bits *= np.uint64(inverses[1])
        bits ^= (bits >> np.uint64(30)) ^ (bits >> np.uint64(60))
    return pa.array(bits.view(np.int64))


def keyed(side: str, keys: pa.Array) -> pa.Table:
    when = np.linspace(1_700_000_000_000_000, 1_700_000_050_000_000, len(keys))
    return pa.table(
        {"key": keys, f"{side}_time": pa.array(when.astype(np.int64), MICROSECONDS)}
    )


def test_the_chosen_keys_do_collide_without_a_seed() -> None:
    from shedjoin.kernels.hashing import mixed

    keys = chosen_keys(1000).to_numpy()
    assert len({int(mixed(key)) & 0xFFFFFFFF for key in keys}) == 1
    assert len(set(keys.tolist())) == 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(None, id="exact"),
        pytest.param(Budget(rows=200_000), id="rows", marks=pytest.mark.long),
    ],
)
def test_a_million_chosen_keys(budget: Budget | None) -> None:
    """They cost at most half as much again as random ones."""
    count = 1_000_000
    rng = np.random.default_rng(4)
    spread = pa.array(rng.integers(-(2**62), 2**62, count))
    kinds = {"chosen": chosen_keys(count), "random": spread}
    took: dict[str, list[float]] = {name: [] for name in kinds}
    matched = set()
    for _ in range(3):
        for name, keys in kinds.items():
            batches = [
                (keyed("l", keys), keyed("r", keys[:0])),
                (keyed("l", keys[:0]), keyed("r", keys)),
            ]
            start = time.perf_counter()
            run = local.join(batches, **JOIN, budget=budget, bucket_seed=12345)
            took[name].append(time.perf_counter() - start)
            assert run.report.longest_chain < 40
            matched.add(run.report.matched)
    if budget is None:
        assert matched == {count}
    assert min(took["chosen"]) < 1.5 * min(took["random"])


def test_the_ends_of_time() -> None:
    """Rows near the ends of int64 are joined as usual or counted as not joined."""
    ends = [-(2**63) + 1, -(2**62), 2**62 - 1, 2**62, 2**63 - 1]
    left = pa.table(
        {"key": [1] * 5, "l_time": pa.array(ends, pa.int64()).cast(MICROSECONDS)}
    )
    right = left.rename_columns(["key", "r_time"])
    for budget in (None, Budget(rows=100)):
        run = local.join([(left, right)], **JOIN, budget=budget)
        report = run.report
        assert report.late[0] == 4
        times = run.results["l_time"].cast(pa.int64()).to_pylist()
        assert times == [2**62 - 1]
        assert run.results["r_time"].cast(pa.int64()).to_pylist() == times


def test_times_with_and_without_a_zone() -> None:
    left = LEFT[0]
    bare = RIGHT[0]["r_time"].cast(pa.timestamp("us"))
    right = RIGHT[0].set_column(1, "r_time", bare)
    with pytest.raises(ColumnTypeError, match="both must have a time zone, or none"):
        local.join([(left, right)], **JOIN)
