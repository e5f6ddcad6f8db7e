"""Joins by predicates give what every combination of rows gives."""

from __future__ import annotations

import pytest

from oracle.predicates import predicate_join

from .predicates import Case


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_equals_the_oracle(first: int) -> None:
    for seed in range(first, first + 25):
        case = Case(seed)
        found = case.run(
            shards=1 + seed % 2, restart_every=seed % 3, blobs=1 + seed % 3
        )
        expected = predicate_join(case.batches, case.join)
        for number, batch in enumerate(found.batches):
            assert case.results_of(batch) == expected[number], (seed, number)
            assert batch.report.matched == expected[number].total()
