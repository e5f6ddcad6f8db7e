"""A throttle saves work, never makes results, and does the same after a restart."""

from __future__ import annotations

import pytest

from local.predicates import Case
from oracle.predicates import predicate_join
from shedjoin import Budget
from shedjoin.policies import RandomDrop


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_an_open_throttle_sheds_nothing(first: int) -> None:
    for seed in range(first, first + 20):
        case = Case(seed)
        found = case.run(
            shards=1 + seed % 3, restart_every=seed % 3, budget=Budget(cpu=0.5)
        )
        expected = predicate_join(case.batches, case.join)
        for number, batch in enumerate(found.batches):
            assert case.results_of(batch) == expected[number], (seed, number)
            assert batch.report.recall == 1


@pytest.mark.parametrize("keep", [None, RandomDrop()])
def test_a_throttle_sheds_the_same_after_restarts(keep: RandomDrop | None) -> None:
    for seed in range(30):
        case = Case(seed)
        expected = predicate_join(case.batches, case.join)
        settings = {
            "budget": Budget(cpu=0.5),
            "keep": keep,
            "control": {0: [{"throttle": {"share": 0.3}}]},
        }
        steady = case.run(**settings)
        others = case.run(**settings, restart_every=1)
        in_blobs = case.run(**settings, blobs=3, shuffle_seed=seed)
        assert steady.state_digests == others.state_digests
        for number, batch in enumerate(steady.batches):
            found = case.results_of(batch)
            assert found <= expected[number], (seed, number)
            assert found == case.results_of(others.batches[number]), (seed, number)
            assert found == case.results_of(in_blobs.batches[number]), (seed, number)
            told = batch.report
            parts = zip(told.late, told.shed, told.stored, strict=True)
            assert told.seen == tuple(map(sum, parts))
