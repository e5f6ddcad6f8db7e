"""How many rows and bytes the join would hold without a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Band, Budget, Within, local
from support.asked import asked

JOIN: dict[str, Any] = {
    "on": "key",
    "within": Within(before="40 seconds", after="60 seconds"),
    "time": ("l_time", "r_time"),
    "lateness": ("5 seconds", "20 seconds"),
    "shards": 3,
}


@pytest.mark.parametrize("restart_every", [0, 1])
def test_rows_needed_are_those_that_the_exact_join_holds(restart_every: int) -> None:
    left = local.uniform("l", rows=6000, keys=200, seconds=600, seed=1, batches=20)
    right = local.uniform("r", rows=3000, keys=200, seconds=600, seed=2, batches=20)
    order = [1, 0, *range(2, 20)]  # so that rows come late
    batches = [(left[n], right[n]) for n in order]
    exact = local.join(batches, **asked(JOIN))
    run = local.join(
        batches, budget=Budget(rows=90), restart_every=restart_every, **asked(JOIN)
    )
    assert any(run.report.shed)
    for found, whole in zip(run.batches, exact.batches, strict=True):
        held = sum(whole.report.resident)
        assert found.report.needed_rows == pytest.approx(held, rel=0.02, abs=3)


def test_residents_that_a_budget_takes_over_are_needed_too() -> None:
    """A message gives a budget to a join of two streams, and to one of three."""
    left, mid, right = (
        local.uniform(name, rows=3000, keys=300, seconds=600, seed=n, batches=20)
        for n, name in enumerate("lmr")
    )
    given = {8: [{"budget": {"rows": 90}}]}
    pairs = list(zip(left, right, strict=True))
    streams = [
        dict(zip("lmr", batch, strict=True))
        for batch in zip(left, mid, right, strict=True)
    ]
    several: dict[str, Any] = {"on": "key", "within": "50 seconds", "shards": 3}
    several["time"] = {name: f"{name}_time" for name in "lmr"}
    cases = (
        [
            local.join(pairs, control=control, **asked(JOIN))
            for control in (None, given)
        ],
        [
            local.multijoin(streams, control=control, **asked(several))
            for control in (None, given)
        ],
    )
    for exact, run in cases:
        for found, whole in zip(run.batches[8:], exact.batches[8:], strict=True):
            size = whole.report.state_bytes
            assert found.report.needed_bytes == pytest.approx(size, rel=0.1)
        held = sum(exact.batches[8].report.resident)
        assert any(run.batches[8].report.shed)
        needed = run.batches[8].report.needed_rows
        assert needed == pytest.approx(held, rel=0.03, abs=3)


SIZES = {
    "small": {"rows": 6_000, "keys": 200, "batches": 20},
    "large": {"rows": 120_000, "keys": 5_000, "batches": 12},
    "many micro-batches": {"rows": 20_000, "keys": 500, "batches": 90},
}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_bytes_needed_are_those_that_the_exact_join_holds(size: str) -> None:
    left, right = (
        local.uniform(name, seconds=600, seed=n, **SIZES[size])
        for n, name in enumerate("lr")
    )
    batches = list(zip(left, right, strict=True))
    exact = local.join(batches, collect=False, **asked(JOIN))
    run = local.join(
        batches,
        budget=Budget(memory="200 KB"),
        restart_every=3,
        collect=False,
        **asked(JOIN),
    )
    assert any(run.report.shed)
    off = [
        found.report.needed_bytes / whole.report.state_bytes
        for found, whole in zip(run.batches, exact.batches, strict=True)
    ]
    assert min(off) > 0.9
    assert max(off) < 1.1


@pytest.mark.slow
@pytest.mark.parametrize("on", ["key", ["key", Band("key", 2)]], ids=["key", "band"])
def test_bytes_needed_by_three_streams(on: Any) -> None:  # noqa: ANN401  (what users give)
    names = "lmr"
    each = [
        local.uniform(name, rows=30_000, keys=30_000, seconds=600, seed=n, batches=20)
        for n, name in enumerate(names)
    ]
    together = zip(*each, strict=True)
    batches = [dict(zip(names, batch, strict=True)) for batch in together]
    given: dict[str, Any] = {"on": on, "within": "50 seconds", "shards": 2}
    given["time"] = {name: f"{name}_time" for name in names}
    exact = local.multijoin(batches, **asked(given))
    run = local.multijoin(batches, budget=Budget(rows=900), **asked(given))
    for found, whole in zip(run.batches[4:], exact.batches[4:], strict=True):
        held = whole.report.state_bytes
        assert found.report.needed_bytes == pytest.approx(held, rel=0.1)


def test_rows_of_an_instant_expire_together() -> None:
    """Hourly readings: those of an hour are needed until its end, and then none is."""
    hour = 3_600_000_000

    def readings(name: str, number: int) -> pa.Table:
        time = pa.array(np.full(50, (490_000 + number) * hour), pa.timestamp("us"))
        return pa.table({"key": np.arange(50), f"{name}_time": time})

    batches = [(readings("l", n), readings("r", n)) for n in range(10)]
    given = JOIN | {"within": Within(before="2 hours", after="2 hours")}
    exact = local.join(batches, **asked(given))
    run = local.join(batches, budget=Budget(rows=30), **asked(given))
    for found, whole in zip(run.batches, exact.batches, strict=True):
        assert found.report.needed_rows == sum(whole.report.resident)
