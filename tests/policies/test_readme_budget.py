"""The README's budget example at its full size: every result is an exact one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from shedjoin import Budget, Within, local

JOIN: dict[str, Any] = {
    "on": "ad_id",
    "within": Within(after="15 minutes"),
    "time": ("shown_at", "clicked_at"),
}


def rows(run: local.Run) -> Counter[tuple[object, ...]]:
    """Return the results as a multiset."""
    columns = (column.to_pylist() for column in run.results.columns)
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_result_is_invented(seed: int) -> None:
    batches = local.clicks(impressions=50_000, batches=12, seed=seed)
    exact = rows(local.join(batches, **JOIN))
    assert not rows(local.join(batches, **JOIN, budget=Budget(rows=2000))) - exact


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_none_is_lost_while_the_budget_suffices(seed: int) -> None:
    batches = local.clicks(impressions=50_000, batches=12, seed=seed)
    exact = rows(local.join(batches, **JOIN))
    assert rows(local.join(batches, **JOIN, budget=Budget(rows=10**8))) == exact
