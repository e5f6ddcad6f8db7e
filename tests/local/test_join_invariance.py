"""Restarts, blob order and the number of shards change nothing."""

from typing import Any

import pytest

from shedjoin import Within, local
from support.asked import asked
from support.streams import Case, make_case

from .runs import Outcome, differences, run, truth

CHUNK = 10


def check(case: Case, expected: Outcome, found: Outcome) -> None:
    """Fail with the places where two runs differ."""
    problems = list(differences(case, expected, found))
    assert not problems, "\n".join(problems[:20])


@pytest.mark.parametrize("first", range(0, 60, CHUNK))
def test_restart_between_any_two_batches(first: int) -> None:
    for case in map(make_case, range(first, first + CHUNK)):
        check(case, run(case), run(case, restart_every=1))


@pytest.mark.parametrize("first", range(1000, 1040, CHUNK))
def test_blobs_in_any_order(first: int) -> None:
    for case in map(make_case, range(first, first + CHUNK)):
        seventh = run(case, blobs=3, shuffle_seed=7)
        eighth = run(case, blobs=3, shuffle_seed=8)
        check(case, run(case, blobs=1), seventh)
        check(case, seventh, eighth)
        assert len(seventh.states) == len(case.batches)
        assert seventh.states == eighth.states, f"seed {case.seed}"


@pytest.mark.parametrize("first", range(2000, 2040, CHUNK))
def test_any_number_of_shards(first: int) -> None:
    for case in map(make_case, range(first, first + CHUNK)):
        expected = truth(case)
        for shards in (1, 2, 5):
            check(case, expected, run(case, shards=shards))


def test_results_can_be_counted_without_being_collected() -> None:
    batches = local.clicks(impressions=2_000, batches=4, seed=1)
    arguments: dict[str, Any] = {
        "on": "ad_id",
        "within": Within(after="15 minutes"),
        "time": ("shown_at", "clicked_at"),
    }
    collected = local.join(batches, **asked(arguments))
    counted = local.join(batches, **asked(arguments), collect=False)
    assert counted.report == collected.report
    assert counted.state_digests == collected.state_digests
    assert collected.results.num_rows == counted.report.matched > 0
    assert counted.results.num_rows == 0
    assert counted.results.schema == collected.results.schema
