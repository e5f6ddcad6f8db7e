"""Budgets: what may be written, and what a join then holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Options, Within
from shedjoin.errors import ColumnTypeError, ParameterError
from shedjoin.local.join import join
from shedjoin.local.run import Run
from shedjoin.models.frequency import MOST
from shedjoin.models.learned import Models
from shedjoin.policies import Expected, Fifo, Policy, Prob, Size, UntilExpiry
from shedjoin.spec.budget import parse_bytes

START = 1_700_000_000
ROW_BYTES = 200
"""More than a row of ten letters takes, with its slot."""


def test_models_stay_small() -> None:
    """What the README promises, for however many residents, with what is stored."""
    assert 2 * 8 * Models.words_of(2, keys=MOST) < 4.6e6


@pytest.mark.parametrize("usable", [0, 1, 7, 1000])
@pytest.mark.parametrize("split", [None, 0.0, 0.3, 1.0, (0.2, 0.8)])
def test_pools_add_up(split: float | tuple[float, ...] | None, usable: int) -> None:
    pools = Budget(rows=9, split=split).by_pool(usable, 2)
    assert len(pools) == 2
    assert min(pools) >= 0
    assert sum(pools) == usable


def test_a_part_for_each_stream() -> None:
    assert Budget(rows=9, split=(0.5, 0.3, 0.2)).by_pool(10, 3) == (5, 3, 2)
    assert Budget(rows=9).by_pool(10, 3) == (10, 0, 0)
    with pytest.raises(ParameterError, match="has 3 parts for 2 streams"):
        run(Budget(rows=9, split=(0.5, 0.3, 0.2)), TEN, Fifo())


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, 0),
        (1, 1),
        ("0 B", 0),
        ("1B", 1),
        ("512 MB", 512_000_000),
        ("512mb", 512_000_000),
        ("2 GiB", 2 << 30),
        (" 1.5 KiB ", 1536),
        ("0.5 kB", 500),
        ("3 TB", 3 * 10**12),
        ("1 TiB", 1 << 40),
    ],
)
def test_sizes(size: str | int, expected: int) -> None:
    assert parse_bytes(size) == expected
    assert Budget(memory=size).share(0, 1) == expected


@pytest.mark.parametrize(
    "size", ["", "512", "MB", "-1 MB", "1 XB", "1e3 MB", "1 MB 2 KB", -1, 1.5, b"1 MB"]
)
def test_bad_sizes(size: str) -> None:
    with pytest.raises(ParameterError, match=r"is not a size\.\nFix: "):
        Budget(memory=size)


@pytest.mark.parametrize("rows", [-1, 1.0, "10", True])
def test_bad_rows(rows: int) -> None:
    with pytest.raises(ParameterError, match=r"is not a number of rows\.\nFix: "):
        Budget(rows=rows)


@pytest.mark.parametrize(
    "split", [-0.01, 1.01, float("nan"), float("inf"), (0.5, 0.6), (), (1.5, -0.5)]
)
def test_bad_splits(split: float | tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match=r"is not a part of the whole\.\nFix: "):
        Budget(rows=1, split=split)


def test_one_of_rows_and_memory() -> None:
    with pytest.raises(ParameterError, match=r"limits nothing"):
        Budget()
    with pytest.raises(ParameterError, match=r"must say one of rows and memory"):
        Budget(rows=1, memory=1)
    with pytest.raises(ParameterError, match=r"must say one of rows and memory"):
        Budget(rows=1, memory=1, cpu=0.5)
    assert not Budget(rows=1).in_bytes
    assert Budget(memory=1).in_bytes


@pytest.mark.parametrize("budget", [Budget(rows=17), Budget(memory=17)])
@pytest.mark.parametrize("shards", [1, 2, 5, 17, 40])
def test_shares_are_equal_and_add_up(budget: Budget, shards: int) -> None:
    shares = [budget.share(shard, shards) for shard in range(shards)]
    assert sum(shares) == 17
    assert max(shares) - min(shares) <= 1


def test_a_policy_without_a_budget() -> None:
    with pytest.raises(ParameterError, match="without a budget"):
        join([], on="k", within=Within(after="0 seconds"), time=("t", "t"), keep=Fifo())


# ------------------------------------------------------------------ held by a join


def side(name: str, first: int, sizes: list[int]) -> pa.Table:
    """Rows of one key, one per second, with so many letters each."""
    time = [(START + first + row) * 1_000_000 for row in range(len(sizes))]
    return pa.table(
        {
            "k": pa.array([7] * len(sizes), pa.int64()),
            f"{name}_time": pa.array(time, pa.timestamp("us", "UTC")),
            f"{name}_text": pa.array(["x" * size for size in sizes], pa.string()),
        }
    )


def run(
    budget: Budget | None,
    batches: list[list[int]],
    keep: Policy | None = None,
    *,
    shards: int = 1,
    restart_every: int = 0,
) -> Run:
    """Both sides bring rows with the given numbers of letters."""
    first = 0
    tables = []
    for sizes in batches:
        tables.append((side("left", first, sizes), side("right", first, sizes)))
        first += len(sizes)
    return join(
        tables,
        on="k",
        within=Within(before="1 hour", after="1 hour"),
        time=("left_time", "right_time"),
        budget=budget,
        keep=keep,
        options=Options(shards=shards),
        restart_every=restart_every,
    )


def residents(found: Run) -> list[int]:
    reports = [batch.report for batch in found.batches]
    return [report.resident[0] + report.resident[1] for report in reports]


def held_bytes(found: Run) -> list[int]:
    return [batch.report.state_bytes for batch in found.batches]


def adds_up(found: Run) -> bool:
    report = found.report
    shed = report.shed[0] + report.shed[1]
    why = report.unadmitted + report.unretained
    why += report.refused + report.evicted + report.outlived
    left = report.late[0] + report.shed[0] + report.expired[0]
    right = report.late[1] + report.shed[1] + report.expired[1]
    return (
        report.seen[0] == left + report.resident[0]
        and report.seen[1] == right + report.resident[1]
        and shed == why
    )


TEN = [[10] * 5, [], [10], [10] * 4]


@pytest.mark.parametrize("policy", [Fifo(), UntilExpiry(), Prob()], ids=str)
@pytest.mark.parametrize("split", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("rows", [0, 1, 2, 7, 19, 20, 1000])
def test_rows(policy: Policy, split: float | None, rows: int) -> None:
    found = run(Budget(rows=rows, split=split), TEN, policy)
    assert max(residents(found)) <= rows
    assert adds_up(found)
    if split is None:
        assert residents(found)[-1] == min(rows, 20)
    else:
        left = round(split * rows)
        assert found.report.resident[0] == min(10, left)
        assert found.report.resident[1] == min(10, rows - left)


def test_no_rows_give_no_results() -> None:
    found = run(Budget(rows=0), TEN, Fifo())
    assert found.report.matched == 0
    assert found.report.shed[0] + found.report.shed[1] == 20
    assert found.report.refused == 20


def test_one_row_meets_the_next() -> None:
    found = run(Budget(rows=1), [[10]], Fifo())
    assert found.report.matched == 1
    assert residents(found) == [1]


def test_more_shards_than_rows() -> None:
    equal = Budget(rows=2, by_shard=[0.2] * 5)
    assert max(residents(run(equal, TEN, Fifo(), shards=5))) <= 1  # one key, one shard
    assert max(residents(run(Budget(rows=2), TEN, Fifo(), shards=5))) == 2


@pytest.mark.parametrize("policy", [Fifo(), UntilExpiry(), Prob()], ids=str)
@pytest.mark.parametrize("split", [None, 0.5])
@pytest.mark.parametrize("memory", [0, 1, 100, 200, 300, 1000, 2500])
def test_bytes(policy: Policy, split: float | None, memory: int) -> None:
    found = run(Budget(memory=memory, split=split), TEN, policy)
    assert max(held_bytes(found)) <= memory
    assert adds_up(found)
    if memory < 100:
        assert residents(found) == [0, 0, 0, 0]
    if split is None and memory >= 1000:
        assert residents(found)[-1] >= memory * 0.8 // ROW_BYTES


def test_ample_bytes_shed_nothing() -> None:
    found = run(Budget(memory="1 MB"), TEN, Fifo())
    assert residents(found) == [10, 10, 12, 20]
    assert found.report.matched == run(None, TEN).report.matched


@pytest.mark.parametrize("policy", [Fifo(), UntilExpiry(), Prob()], ids=str)
@pytest.mark.parametrize("split", [None, 0.5])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_row_larger_than_the_budget(
    policy: Policy, split: float | None, place: int
) -> None:
    sizes = [10] * 5
    sizes[place] = 10_000
    found = run(Budget(memory=3000, split=split), [[10] * 3, sizes, [10] * 3], policy)
    assert max(held_bytes(found)) <= 3000
    assert adds_up(found)
    assert residents(found)[0] == 6
    assert found.report.matched == found.results.num_rows > 0
    if policy == UntilExpiry():  # the giant is the newest, and is refused
        assert residents(found)[1] > 6


def test_a_row_larger_than_the_budget_still_probes() -> None:
    found = run(Budget(memory=2000), [[10], [100_000]], UntilExpiry())
    assert residents(found) == [2, 2]
    assert found.report.matched == 3  # not the two giants with one another
    assert found.report.refused == 2


def test_a_row_larger_than_the_budget_alone() -> None:
    found = run(Budget(memory=2000), [[100_000], [10]], Fifo())
    assert residents(found) == [0, 2]
    assert adds_up(found)


def test_a_restart_after_there_were_more_rows() -> None:
    batches = [[10] * 6, [600], [10]]
    budget = Budget(memory=1200, split=1.0)
    found = run(budget, batches, Fifo())
    again = run(budget, batches, Fifo(), restart_every=1)
    assert residents(found) == residents(again)
    assert found.results.equals(again.results)


def test_columns_whose_rows_have_no_size_of_their_own() -> None:
    words = pa.array([f"{'word' * 50}{row}" for row in range(20)])
    left = side("left", 0, [10] * 20).append_column("w", words.dictionary_encode())
    right = side("right", 0, [10] * 20)
    found = join(
        [(left.slice(at, 5), right.slice(at, 5)) for at in range(0, 20, 5)],
        on="k",
        within=Within(before="1 hour", after="1 hour"),
        time=("left_time", "right_time"),
        budget=Budget(memory=3000),
        keep=Fifo(),
    )
    assert max(held_bytes(found)) <= 3000
    assert adds_up(found)


def test_text_with_wide_offsets() -> None:
    wide = [
        table.set_column(
            2, table.column_names[2], table[table.column_names[2]].cast("large_string")
        )
        for table in (side("left", 0, [10] * 20), side("right", 0, [10] * 20))
    ]
    found = join(
        [(wide[0], wide[1])],
        on="k",
        within=Within(before="1 hour", after="1 hour"),
        time=("left_time", "right_time"),
        budget=Budget(memory=3000),
        keep=Fifo(),
    )
    assert 0 < max(held_bytes(found)) <= 3000
    assert adds_up(found)


@pytest.mark.parametrize("keep", [Fifo(), Expected(), Size()], ids=str)
@pytest.mark.parametrize("rows", [30, 100])
def test_the_longest_chain_is_that_of_the_most_popular_key(
    keep: Policy, rows: int
) -> None:
    """Also where arrivals of one block meet each other."""
    sides = [
        pa.table({"k": [7] * rows, name: pa.array(range(rows), pa.timestamp("us"))})
        for name in ("a", "b")
    ]
    found = join(
        [(sides[0], sides[1])],
        on="k",
        within=Within(after="30 seconds"),
        time=("a", "b"),
        budget=Budget(rows=20),
        keep=keep,
    )
    assert found.report.matched > 200
    assert found.report.longest_chain in range(15, 2 * rows)


def test_importance_that_is_no_number() -> None:
    rows = pa.table({"k": [1], "t": pa.array([5], pa.timestamp("us")), "n": ["x"]})
    with pytest.raises(ColumnTypeError, match=r"column 'n' .* is of type string"):
        join(
            [(rows, rows)],
            on="k",
            within=Within(after="1 second"),
            time=("t", "t"),
            budget=Budget(rows=5),
            keep=MostImportant("n"),
        )


@pytest.mark.parametrize("cpu", [0, -1, 1.5, True, "soon", "0 seconds", float("nan")])
def test_bad_times(cpu: object) -> None:
    with pytest.raises(ParameterError, match=r"\nFix: "):
        Budget(cpu=cpu)  # type: ignore[arg-type]


@pytest.mark.parametrize("parts", [(), (0.5, 0.6), (1.5, -0.5), ("a",), 0.5])
def test_bad_parts_of_shards(parts: object) -> None:
    with pytest.raises(ParameterError, match=r"are not parts of the whole\.\nFix: "):
        Budget(rows=9, by_shard=parts)  # type: ignore[arg-type]


def test_shares_of_shards_add_up() -> None:
    budget = Budget(rows=1001, by_shard=(0.1, 0.25, 0.65))
    shares = [budget.share(shard, 3) for shard in range(3)]
    assert shares == [100, 250, 651]
    with pytest.raises(ParameterError, match=r"has 3 parts for 2 shards"):
        budget.check(streams=2, shards=2)
