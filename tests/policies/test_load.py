"""Joins under a throttle: work within the share, the best results for it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shedjoin import (
    Adaptive,
    Budget,
    MostImportant,
    MostResults,
    Sample,
    Within,
    local,
)
from shedjoin.local.run import Run
from shedjoin.policies import (
    CoinFlip,
    InsertNoProbe,
    OnlineMaxSubset,
    Policy,
    ProbeNoInsert,
    ValuePni,
)
from shedjoin.spec.report import Report
from support.asked import asked

KEYS, ROWS, BATCHES, FROM = 200, 250, 60, 12
KINDS = ("direct", "inverse", pytest.param("uncorrelated", marks=pytest.mark.long))
POLICIES = (CoinFlip(), InsertNoProbe(), ProbeNoInsert(), OnlineMaxSubset(), ValuePni())
OPTIONS: dict[str, Any] = {
    "on": "k",
    "within": Within(before="5 seconds", after="5 seconds"),
    "time": ("t", "t"),
    "shards": 2,
}
Tables = list[tuple[pa.Table, pa.Table]]
pytestmark = pytest.mark.xdist_group("load")  # tests share joins that are run once


def throttle(share: float, update: float = 1.0, match: float = 1.0) -> dict[str, Any]:
    return {"throttle": {"share": share, "update": update, "match": match}}


@cache
def streams(kind: str) -> Tables:
    """Zipf keys: the same on both streams, reversed, or mixed up; a second a batch."""
    rng = np.random.default_rng(7)
    left = 1.0 / np.arange(1, KEYS + 1)
    left /= left.sum()
    right = {
        "direct": left,
        "inverse": left[::-1],
        "uncorrelated": rng.permutation(left),
    }[kind]
    return [
        (table(rng, number, left, "a"), table(rng, number, right, "b"))
        for number in range(BATCHES)
    ]


def table(
    rng: np.random.Generator, number: int, chance: np.ndarray, name: str
) -> pa.Table:
    time = np.sort(rng.integers(0, 1_000_000, ROWS)) + number * 1_000_000
    return pa.table(
        {
            "k": rng.choice(KEYS, ROWS, p=chance),
            "t": pa.array(time, pa.timestamp("us")),
            name: np.arange(ROWS) + number * ROWS,
        }
    )


@cache
def exact(kind: str) -> Run:
    return local.join(streams(kind), **asked(OPTIONS))


@cache
def throttled(kind: str, policy: Policy, share: float, update: float = 1.0) -> Run:
    return local.join(
        streams(kind),
        budget=Budget(cpu=0.5),
        keep=policy,
        control={FROM: [throttle(share, update)]},
        **asked(OPTIONS),
    )


def results(run: Run, start: int = FROM + 1) -> int:
    return sum(batch.results.num_rows for batch in run.batches[start:])


def stored(run: Run, start: int = FROM + 1) -> int:
    return sum(sum(batch.report.stored) for batch in run.batches[start:])


def done(kind: str, run: Run, update: float = 1.0, start: int = FROM + 1) -> float:
    """Work as part of that of the exact join."""
    whole = exact(kind)
    seen = sum(sum(batch.report.seen) for batch in whole.batches[start:])
    work = update * stored(run, start) + results(run, start)
    return work / (update * seen + results(whole, start))


def pairs(run: Run) -> np.ndarray:
    """Numbers of the results, sorted."""
    table = pa.concat_tables([batch.results for batch in run.batches])
    both = [table[name].to_numpy() for name in ("a", "b")]
    return np.sort(both[0] * ROWS * BATCHES + both[1])


def is_part(run: Run, whole: Run) -> bool:
    """Whether some results are missing, and none is twice or invented."""
    some, every = pairs(run), pairs(whole)
    once = bool((np.diff(some) > 0).all())
    return once and some.size < every.size and bool(np.isin(some, every).all())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: type(one).__name__)
def test_results_are_a_part_of_the_exact_ones(kind: str, policy: Policy) -> None:
    """Before the throttle all of them, then fewer."""
    run, whole = throttled(kind, policy, 0.4), exact(kind)
    assert is_part(run, whole)
    for one, other in zip(run.batches[:FROM], whole.batches[:FROM], strict=True):
        assert one.results.num_rows == other.results.num_rows
        assert one.report.recall == 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("policy", [CoinFlip(), ProbeNoInsert(), ValuePni()])
def test_work_keeps_to_the_share(kind: str, policy: Policy, share: float) -> None:
    assert done(kind, throttled(kind, policy, share)) == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_paper(kind: str) -> None:
    """INP, CF, PNI, by value: more results in this order, at the same work."""
    found = [
        results(throttled(kind, policy, 0.4, 5.0))
        for policy in (InsertNoProbe(), CoinFlip(), ProbeNoInsert(), ValuePni())
    ]
    assert found == sorted(found) or kind == "direct"
    assert found[3] >= 0.97 * found[1]


def test_gain_on_inverse_keys() -> None:
    """Results of ``ValuePni`` against coin flipping; frequent keys meet rare ones."""
    by_value, by_coin = (
        results(throttled("inverse", policy, 0.4))
        for policy in (ValuePni(), CoinFlip())
    )
    assert by_value >= 1.2 * by_coin


@pytest.mark.parametrize("kind", KINDS)
def test_a_throttle_that_closes_works_at_once(kind: str) -> None:
    """Residents that would not be stored any more leave, not one window later."""
    run = throttled(kind, ValuePni(), 0.2)
    first = slice(FROM, FROM + 1)
    whole = exact(kind).batches[first][0]
    found = run.batches[first][0]
    assert found.results.num_rows <= 0.45 * whole.results.num_rows
    assert found.report.evicted > 0
    assert sum(batch.report.evicted for batch in run.batches[FROM + 1 :]) == 0


def test_an_open_throttle_is_exact_again_after_a_window() -> None:
    run = local.join(
        streams("inverse"),
        budget=Budget(cpu=0.5),
        control={8: [throttle(0.3)], 20: [throttle(1.0)]},
        **asked(OPTIONS),
    )
    for one, other in zip(run.batches[27:], exact("inverse").batches[27:], strict=True):
        assert one.results.num_rows == other.results.num_rows
        assert one.report.recall == 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: type(one).__name__)
def test_the_recall_reported_is_right(kind: str, policy: Policy) -> None:
    """Over all micro-batches under the throttle, within 0.03."""
    run = throttled(kind, policy, 0.4)
    reports = [batch.report for batch in run.batches[FROM + 1 :]]
    told = sum(reports, Report()).recall
    assert told == pytest.approx(results(run) / results(exact(kind)), abs=0.03)


def test_restarts_and_order_change_nothing() -> None:
    """Messages at three micro-batches, starts again after every second one."""
    control = {
        5: [throttle(0.5)],
        9: [throttle(0.2)],
        15: [throttle(0.6, 3.0)],
        22: [throttle(1.0)],
    }
    runs = [
        local.join(
            streams("uncorrelated"),
            budget=Budget(rows=3000, cpu=0.5),
            control=control,
            restart_every=every,
            bucket_seed=every,
            **asked(OPTIONS),
        )
        for every in (0, 2)
    ]
    assert np.array_equal(pairs(runs[0]), pairs(runs[1]))
    assert len(set(runs[1].state_digests)) == BATCHES
    for one, other in zip(*(run.batches for run in runs), strict=True):
        assert one.report.shed == other.report.shed


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(
    "options",
    [
        {"discipline": "shed_then_join"},
        {"recompute": Adaptive(instant="100 milliseconds")},
        {"budget": Budget(memory="200 kB", cpu=0.5)},
        {"budget": Budget(rows=2000, split=0.3, cpu=0.5)},
    ],
    ids=str,
)
def test_all_that_a_budget_may_be_with(policy: Policy, options: Any) -> None:  # noqa: ANN401
    """Results are a part of the exact ones, whatever else the join is told."""
    few = streams("inverse")[:12]
    arguments = {"budget": Budget(cpu=0.5), "keep": policy} | OPTIONS | options
    run = local.join(few, control={4: [throttle(0.3)]}, **asked(arguments))
    assert is_part(run, exact("inverse"))
    again = local.join(
        few, control={4: [throttle(0.3)]}, restart_every=1, **asked(arguments)
    )
    assert again.state_digests == run.state_digests


def test_both_budgets_hold() -> None:
    run = local.join(
        streams("uncorrelated"),
        budget=Budget(rows=2000, cpu=0.5),
        keep=MostResults(),
        control={FROM: [throttle(0.3)]},
        **asked(OPTIONS),
    )
    assert max(sum(batch.report.resident) for batch in run.batches) <= 2000
    assert done("uncorrelated", run) <= 0.33


def test_importance_decides_if_it_is_the_goal() -> None:
    """Rows of odd keys, which have few results, are worth a hundred times others."""

    def valued(one: pa.Table) -> pa.Table:
        worth = np.where(np.array(one["k"]) % 2 == 1, 100.0, 1.0)
        return one.append_column("worth", pa.array(worth))

    batches = [tuple(map(valued, pair)) for pair in streams("uncorrelated")]
    found = {}
    for keep in (MostImportant("worth"), MostResults()):
        run = local.join(
            batches,
            budget=Budget(cpu=0.5),
            keep=keep,
            control={FROM: [throttle(0.3)]},
            **asked(OPTIONS),
        )
        keys = pa.concat_tables([b.results for b in run.batches[FROM + 1 :]])["k"]
        found[type(keep)] = int((np.array(keys) % 2 == 1).sum())
    assert found[MostImportant] > 5 * found[MostResults]


@pytest.mark.slow
def test_a_sample_stays_unbiased_under_a_throttle() -> None:
    """The weights of the results add up to the exact number, over 12 seeds."""
    whole = results(exact("inverse"))
    told, kept = [], []
    for seed in range(12):
        run = local.join(
            streams("inverse"),
            budget=Budget(cpu=0.5),
            keep=Sample(),
            control={FROM: [throttle(0.3)]},
            **asked({**OPTIONS, "seed": seed}),
        )
        told.append(sum(batch.report.weight for batch in run.batches[FROM + 1 :]))
        kept.append(results(run))
    error = np.std(told) / np.sqrt(len(told))
    assert abs(np.mean(told) - whole) <= 3 * error + 0.01 * whole
    assert np.mean(kept) <= 0.5 * whole


@pytest.mark.parametrize("key", [0, KEYS - 1, 10**6], ids=["hot", "rare", "unknown"])
def test_one_arrival_does_not_decide_who_stays(key: int) -> None:
    """A message may begin a micro-batch of its own, with hardly a row."""
    given = streams("direct")[:20]
    alone = [
        pa.table({"k": [key] * rows, "t": side["t"].slice(0, rows), name: [0] * rows})
        for side, name, rows in zip(given[FROM], "ab", (1, 0), strict=True)
    ]
    run = local.join(
        [*given[:FROM], tuple(alone), *given[FROM:]],
        budget=Budget(cpu=0.5),
        control={FROM: [throttle(0.9)]},
        **asked(OPTIONS),
    )
    assert run.batches[FROM].report.evicted == 0
    later = run.batches[FROM + 1].results.num_rows
    assert later > 0.75 * exact("direct").batches[FROM].results.num_rows


@pytest.mark.parametrize("limit", [{"memory": "10 MB"}, {"rows": 10_000}], ids=str)
def test_a_sample_of_next_to_nothing_is_small(limit: Any) -> None:  # noqa: ANN401
    run = local.join(
        streams("direct")[:24],
        budget=Budget(cpu=0.5, **limit),
        keep=Sample(),
        control={FROM: [throttle(0.0)]},
        **asked(OPTIONS),
    )
    most = [sum(batch.report.resident) for batch in run.batches[FROM + 1 :]]
    assert max(most) <= 40
