"""Every kind of join under test has rows to join, to shed and to drop as late."""

from __future__ import annotations

from itertools import pairwise

import pytest

from local.runs import REPORTED, matches_of, truth

from .checks import in_order
from .joins import KINDS, Join, Kind, make_join
from .streams import make_stream
from .uninterrupted import noted

STREAM = 8
EXACT: dict[Kind, Kind] = {
    "budgeted": "exact",
    "sampled": "exact",
    "three_budgeted": "three_exact",
    "band_budgeted": "band_exact",
    "band_throttled": "band_exact",
    "star_table_budgeted": "star_table",
    "star_changes_budgeted": "star_changes",
}


def total(join: Join, count: str) -> float:
    """Sum a count over all micro-batches, and over the streams if each has one."""
    names = [count, *(f"{count}_{name}" for name in join.starts[0].spec.names)]
    return sum(batch.counts.get(name, 0) for batch in join.batches for name in names)


def test_an_exact_join_is_that_of_the_oracle() -> None:
    join, expected = make_join("exact", STREAM), truth(make_stream(STREAM))
    for number, batch in enumerate(join.batches):
        if batch.results:
            found = matches_of(in_order(batch.results))
            assert found == expected.matches[number]
        report = expected.reports[number]
        assert {name: batch.counts[name] for name in REPORTED} == report


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_joined_and_leave_and_some_are_late(kind: Kind) -> None:
    join = make_join(kind, STREAM)
    assert total(join, "matched") > 50
    assert total(join, "late") > 0
    if kind != "relation":  # its rows are joined when they come, and not kept
        assert total(join, "expired") + total(join, "shed") > 50


def test_a_table_that_is_sent_joins_the_same_rows() -> None:
    """As one that comes with the rows of the first micro-batch."""
    join = make_join("star_table", STREAM)
    (call,) = join.query.calls
    for batch, other in zip(join.batches, noted(call).batches, strict=True):
        assert in_order(batch.results).equals(in_order(other.results))


@pytest.mark.parametrize("kind", EXACT)
def test_shedding_costs_results(kind: Kind) -> None:
    join, exact = make_join(kind, STREAM), make_join(EXACT[kind], STREAM)
    assert total(join, "seen") == total(exact, "seen")
    assert total(join, "matched") < total(exact, "matched")


@pytest.mark.parametrize("kind", ["star_changes", "star_changes_budgeted", "relation"])
def test_a_relation_changes_and_some_changes_are_late(kind: Kind) -> None:
    join = make_join(kind, STREAM)
    assert total(join, "changes") > 20
    assert total(join, "changes_late") > 0


@pytest.mark.parametrize("stream", [0, 1, 4, 10])
def test_messages_come_into_force(stream: int) -> None:
    record = make_join("steered", stream).batches[-1].record
    assert record["in_force"]
    assert sum(not refused for _, _, refused in record["entries"]) > 2


@pytest.mark.parametrize("stream", [1, 5, 10])
def test_each_start_has_another_budget_or_policy(stream: int) -> None:
    specs = [start.spec for start in make_join("restarted", stream).starts]
    assert all(former != spec for former, spec in pairwise(specs))
    assert len({spec.fingerprint() for spec in specs}) == 1
