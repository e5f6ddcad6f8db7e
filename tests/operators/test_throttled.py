"""Small joins under a throttle: also as plain Python, line by line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, Sample, Within, local
from shedjoin.local.run import Run
from shedjoin.policies import (
    CoinFlip,
    Greedy,
    InsertNoProbe,
    OnlineMaxSubset,
    ProbeNoInsert,
    ValuePni,
)
from support.asked import asked

ROWS, BATCHES, KEYS = 40, 6, 8
CONTROL: dict[int, Any] = {
    1: [{"throttle": {"share": 0.5}}],
    3: [{"throttle": {"share": 0.2, "update": 3}}],
    5: [{"throttle": {"share": 1}}],
}
KEEP = (
    *(CoinFlip(), InsertNoProbe(), ProbeNoInsert(), OnlineMaxSubset(), ValuePni()),
    *(Sample(), MostImportant(("a", None)), Greedy()),
)


def streams() -> list[tuple[pa.Table, pa.Table]]:
    rng = np.random.default_rng(9)
    return [(table(rng, number, "a"), table(rng, number, "b")) for number in range(6)]


def table(rng: np.random.Generator, number: int, name: str) -> pa.Table:
    time = np.sort(rng.choice(2_000, ROWS, replace=False)) * 1000
    return pa.table(
        {
            "k": rng.integers(0, KEYS, ROWS),
            "t": pa.array(time + number * 2_000_000, pa.timestamp("us")),
            name: np.arange(ROWS) + number * ROWS,
        }
    )


def joined(**more: Any) -> Run:  # noqa: ANN401
    return local.join(
        streams(),
        on="k",
        within=Within(before="3 seconds", after="3 seconds"),
        time=("t", "t"),
        **asked(more),
    )


def pairs(run: Run) -> set[tuple[int, int]]:
    found = run.results
    return set(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))


@pytest.mark.parametrize("budget", [Budget(cpu=0.5), Budget(memory="9 kB", cpu=0.5)])
@pytest.mark.parametrize("keep", KEEP, ids=lambda one: type(one).__name__)
def test_a_part_of_the_exact_results_and_the_same_after_restarts(
    keep: Any,  # noqa: ANN401
    budget: Budget,
) -> None:
    run = joined(budget=budget, keep=keep, control=CONTROL)
    assert pairs(run) < pairs(joined())
    assert run.results.num_rows == len(pairs(run))
    again = joined(budget=budget, keep=keep, control=CONTROL, restart_every=1)
    assert again.state_digests == run.state_digests
    assert again.results.equals(run.results)


def test_importance_of_a_message() -> None:
    told = {"importance": {"left": {"column": "a"}}}
    run = joined(budget=Budget(rows=30), keep=Greedy(), control={2: [told]})
    for batch in run.batches[2:]:
        worth = sum(batch.results["a"].to_pylist())
        assert batch.report.importance == pytest.approx(worth)


@pytest.mark.parametrize("keep", KEEP[:5], ids=lambda one: type(one).__name__)
def test_a_throttle_holds_from_the_first_micro_batch(keep: Any) -> None:  # noqa: ANN401
    sides = [
        local.uniform(side, rows=8_000, keys=50, seconds=80, seed=seed, batches=16)
        for seed, side in enumerate(("left", "right"))
    ]
    arguments: dict[str, Any] = {
        "on": "key",
        "within": Within(before="10 seconds", after="10 seconds"),
        "time": ("left_time", "right_time"),
    }
    batches = list(zip(*sides, strict=True))
    exact = local.join(batches, **asked(arguments))
    run = local.join(
        batches,
        **asked(arguments),
        budget=Budget(cpu=0.5),
        keep=keep,
        control={0: [{"throttle": {"share": 0.3}}]},
    )
    kept = [
        found.report.matched / all_of.report.matched
        for found, all_of in zip(run.batches, exact.batches, strict=True)
    ]
    assert kept[0] < 0.4
    # Nothing has to be made up for, so no later micro-batch is left without results.
    assert min(kept[1:]) > 0.05
