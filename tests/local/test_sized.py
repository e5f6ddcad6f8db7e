"""Rows of different sizes under a budget in bytes: a large row has to be worth more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import Budget, MostImportant, MostResults, Within, local
from shedjoin.policies import Policy, Residents
from shedjoin.types import FloatArray, IntArray
from support.asked import asked
from support.related import star_join

ROWS, BATCHES, SECONDS = 4000, 9, 300
MEMORY = Budget(memory=120_000)
WITHIN = Within(before="100 seconds", after="100 seconds")


@dataclass(frozen=True, slots=True)
class Unsized(Policy):
    """What ``MostResults`` would do if all rows were of one size."""

    dynamic: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("models",)

    def score(self, residents: Residents) -> FloatArray:
        return residents.priority()


@dataclass(frozen=True, slots=True)
class Unlearned(Unsized):
    """What it would do if size told nothing of matches."""

    def score(self, residents: Residents) -> FloatArray:
        return residents.priority() / residents.size


def stream(key: IntArray, time: FloatArray, length: FloatArray) -> pa.Table:
    """Rows in the order of their times, in seconds, with texts of these lengths."""
    order = np.argsort(time, kind="stable")
    texts = ["x" * int(n) for n in np.minimum(length, 20_000)[order]]
    at = pa.array((1e12 + time[order] * 1e6).astype(np.int64), pa.timestamp("us"))
    return pa.table(
        {"key": key[order], "at": at.cast(pa.timestamp("us", "UTC"))}
    ).append_column("text", pa.array(texts))


def batches_of(streams: Sequence[pa.Table]) -> list[tuple[pa.Table, ...]]:
    """Micro-batches of equal time."""
    cuts = 1e12 + 1e6 * np.linspace(0, SECONDS, BATCHES + 1)
    at = [
        np.searchsorted(each["at"].cast(pa.int64()).to_numpy(), cuts)
        for each in streams
    ]
    return [
        tuple(
            each.slice(int(cut[n]), int(cut[n + 1] - cut[n])).rename_columns(
                ["key", f"at{side}", f"text{side}"]
            )
            for side, (each, cut) in enumerate(zip(streams, at, strict=True))
        )
        for n in range(BATCHES)
    ]


def zipf(streams: int, rows: int = ROWS) -> list[tuple[pa.Table, ...]]:
    """Keys under Zipf's law; sizes have nothing to do with them."""
    rng = np.random.default_rng(1)
    chance = np.arange(1, 1001) ** -0.8
    return batches_of(
        [
            stream(
                rng.choice(1000, rows, p=chance / chance.sum()),
                rng.uniform(0, SECONDS, rows),
                rng.lognormal(5.0, 1.8, rows),
            )
            for _ in range(streams)
        ]
    )


def telling() -> list[tuple[pa.Table, ...]]:
    """Keys that come once on the left; large rows are those that find a match."""
    rng = np.random.default_rng(1)
    key, time = np.arange(ROWS), rng.uniform(0, SECONDS, ROWS)
    lucky = np.flatnonzero(rng.random(ROWS) < 0.2)
    length = rng.lognormal(4.0, 1.5, ROWS)
    length[lucky] *= 16.0
    wait = rng.exponential(15.0, lucky.size)
    later = (time[lucky] + wait).clip(max=SECONDS - 1e-3)
    return batches_of(
        [stream(key, time, length), stream(lucky, later, np.full(lucky.size, 10.0))]
    )


def run(
    batches: list[tuple[pa.Table, ...]],
    budget: Budget | None,
    keep: Any = None,  # noqa: ANN401  (goals and policies)
    **options: Any,  # noqa: ANN401  (of the join)
) -> local.Run:
    return local.join(
        batches,
        on="key",
        within=WITHIN,
        time=("at0", "at1"),
        budget=budget,
        keep=keep,
        **asked(options),
    )


def recall(found: local.Run, exact: local.Run) -> float:
    """Part of the results after the first window."""
    late, whole = (
        sum(batch.report.matched for batch in each.batches[BATCHES // 3 :])
        for each in (found, exact)
    )
    return late / whole


def test_small_rows_are_kept_where_size_tells_nothing() -> None:
    batches, budget = zipf(2), MEMORY
    exact = run(batches, None)
    sized, unsized = (
        recall(run(batches, budget, keep), exact) for keep in (MostResults(), Unsized())
    )
    assert sized > unsized + 0.1


def test_large_rows_are_kept_where_they_have_the_matches() -> None:
    batches, budget = telling(), MEMORY
    exact = run(batches, None)
    learned, unsized, unlearned = (
        recall(run(batches, budget, keep), exact)
        for keep in (MostResults(), Unsized(), Unlearned())
    )
    assert learned > unsized - 0.02
    assert learned > unlearned + 0.1


def test_importance_counts_per_byte() -> None:
    batches = zipf(2)
    worth = [
        (
            left.append_column("worth", pa.array(np.arange(left.num_rows) % 7 + 0.5)),
            right,
        )
        for left, right in batches
    ]
    goal = MostImportant(("worth", None))
    sized, unsized = (
        run(worth, MEMORY, keep).report.importance
        for keep in (goal, MostImportant(("worth", None), by=Unsized()))
    )
    assert sized > 1.2 * unsized


def test_a_budget_in_rows_knows_no_sizes() -> None:
    batches, budget = zipf(2), Budget(rows=600)
    sized, unsized = (run(batches, budget, keep) for keep in (MostResults(), Unsized()))
    assert sized.results.equals(unsized.results)


@pytest.mark.parametrize("make", [lambda: zipf(2), telling])
def test_what_sizes_tell_outlives_a_restart(make: Any) -> None:  # noqa: ANN401
    batches, budget = make(), MEMORY
    once, again = (run(batches, budget, restart_every=every) for every in (0, 1))
    assert once.results.equals(again.results)


def test_three_streams_keep_small_rows() -> None:
    batches = [dict(zip("abc", batch, strict=True)) for batch in zipf(3, 1500)]
    options: dict[str, Any] = {
        "on": "key",
        "within": "60 seconds",
        "time": {"a": "at0", "b": "at1", "c": "at2"},
        "budget": Budget(memory=40_000),
        "collect": False,
    }
    sized, unsized = (
        local.multijoin(batches, keep=keep, **asked(options)).report.matched
        for keep in (MostResults(), Unsized())
    )
    assert sized > 1.15 * unsized


def test_streams_through_a_relation_keep_small_rows() -> None:
    batches = [
        (left.rename_columns(["ad", "at0", "text0"]), right) for left, right in zipf(2)
    ]
    relation = pa.table({"ad": np.arange(1000), "key": (np.arange(1000) + 1) % 1000})
    options: dict[str, Any] = {
        "on": (("ad", "ad"), ("key", "key")),
        "within": WITHIN,
        "time": ("at0", "at1"),
        "budget": MEMORY,
        "collect": False,
    }
    sized, unsized = (
        star_join(batches, relation, keep=keep, **asked(options)).report.matched
        for keep in (MostResults(), Unsized())
    )
    assert sized > 1.2 * unsized


def test_a_budget_that_changes_to_bytes_scores_residents_anew() -> None:
    """By their scores of before, residents would stay whatever comes."""
    batches = zipf(2)
    exact, always = run(batches, None), run(batches, MEMORY)
    change = {BATCHES // 3: [{"budget": {"memory": 120_000}}]}
    changed = run(batches, Budget(rows=1000), control=change)
    assert recall(changed, exact) > recall(always, exact) - 0.05
