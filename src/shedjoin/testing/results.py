"""Invariants of the outcome of a join: budget, results, counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shedjoin.local.run import Run
from shedjoin.policies.base import Policy
from shedjoin.spec.budget import Budget
from shedjoin.spec.report import Report
from shedjoin.spec.streams import WEIGHT_COLUMN
from shedjoin.testing.invariant import Trials
from shedjoin.testing.scenario import KEY, Scenario, Tables, surplus
from shedjoin.testing.streams import busy, large, steady

_AMPLE = (Budget(rows=10**9), Budget(memory="1 TB"), Budget(rows=10**9, split=0.5))
_SHARES = (0.02, 0.1, 0.4)
_FEWEST_SEEDS = 30
_LARGE = 3
REASONS = ("unadmitted", "unretained", "refused", "evicted", "outlived", "spent")


def over_budget(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for a micro-batch after which the join holds more than the budget allows.

    Each stream is joined twice: as it is, and with a single key and equal shares. In
    the second join, one shard has all rows, but only its own share of the budget.
    """
    for seed in trials.seeds:
        scenario = busy(seed)
        whole = scenario.budget.share(0, 1)
        yield from _held(scenario.run(policy), scenario, whole)
        if scenario.shards > 1:
            shards = scenario.shards
            equal = replace(scenario.budget, by_shard=[1 / shards] * shards)
            alone = replace(scenario, batches=_one_key(scenario.batches), budget=equal)
            share = max(equal.share(shard, shards) for shard in range(shards))
            yield from _held(alone.run(policy), alone, share)


def _held(run: Run, scenario: Scenario, most: int) -> Iterator[str]:
    for number, batch in enumerate(run.batches):
        report = batch.report
        held, what = report.state_bytes, "bytes"
        if not scenario.budget.in_bytes:
            held, what = report.resident[0] + report.resident[1], "residents"
        if held > most:
            yield f"{held} {what} after batch {number}, {most} allowed {scenario}"


def _one_key(batches: tuple[Tables, ...]) -> tuple[Tables, ...]:
    column = next(table[KEY] for pair in batches for table in pair if table.num_rows)

    def alone(table: pa.Table) -> pa.Table:
        keys = pa.array([column[0].as_py()] * table.num_rows, column.type)
        return table.set_column(0, KEY, keys)

    return tuple((alone(left), alone(right)) for left, right in batches)


def invented(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for results that the exact join does not give, and weights below one.

    Some of the streams are large, because with small streams there are no errors that
    happen between two calls of a kernel.
    """
    for scenario in _streams(trials):
        run = scenario.run(policy)
        extra = surplus(run, scenario.exact())
        if extra:
            yield f"{extra} results too many {scenario}"
        if policy.samples:
            yield from _weights(run, scenario, at_most=np.finfo(np.float64).max)


def inexact(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for results that are missing though there is room for all rows."""
    for small in _streams(trials):
        scenario = small.under(_AMPLE[small.seed % len(_AMPLE)])
        run, exact = scenario.run(policy), small.exact()
        found, there = run.report.matched, exact.report.matched
        lost = surplus(exact, run)
        more = lost + found - there
        if lost or more:
            yield f"{lost} results of {there} are missing, {more} invented {scenario}"
        if run.report.shed[0] + run.report.shed[1]:
            yield f"rows were shed {scenario}"
        if policy.samples:
            yield from _weights(run, scenario, at_most=1.0)


def _streams(trials: Trials) -> Iterator[Scenario]:
    yield from map(busy, trials.seeds)
    yield from map(large, trials.seeds[:_LARGE])


def _weights(run: Run, scenario: Scenario, *, at_most: float) -> Iterator[str]:
    weight = run.results[WEIGHT_COLUMN].to_numpy()
    wrong = weight[~((weight >= 1.0) & (weight <= at_most))]
    if wrong.size:
        yield f"{wrong.size} weights such as {wrong[0]} {scenario}"


def miscounted(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for rows that were seen but are in no other count, or in two of them."""
    for seed in trials.seeds:
        scenario = busy(seed)
        total = Report()
        for number, batch in enumerate(scenario.run(policy).batches):
            total = replace(total, resident=()) + batch.report
            for problem in _sums(total):
                yield f"{problem} up to batch {number} {scenario}"
            if batch.report.matched != batch.results.num_rows:
                yield f"matched is not the results of batch {number} {scenario}"


def _sums(total: Report) -> Iterator[str]:
    each = zip(
        *(total.seen, total.late, total.shed, total.expired, total.resident),
        strict=True,
    )
    for stream, (seen, late, shed, expired, resident) in enumerate(each):
        if seen != late + shed + expired + resident:
            yield (
                f"seen[{stream}]={seen} is not late={late} + shed={shed} + "
                f"expired={expired} + resident={resident}"
            )
    reasons = sum(getattr(total, name) for name in REASONS)
    if reasons != sum(total.shed):
        yield f"{reasons} reasons of {total.shed} rows shed"


def worse_with_more(policy: Policy, trials: Trials) -> Iterator[str]:
    """Look for a larger budget with which the recall is lower."""
    seeds = range(trials.seed, trials.seed + max(trials.streams, _FEWEST_SEEDS))
    before = 0.0
    for share in _SHARES:
        found = there = 0
        for seed in seeds:
            scenario = steady(seed)
            budget = Budget(rows=int(share * scenario.exact().report.seen[0]))
            found += scenario.under(budget).run(policy).report.matched
            there += scenario.exact().report.matched
        recall = found / there
        if recall < before:
            yield (
                f"recall {recall:.4f} with {share:.0%} of the rows, {before:.4f} with "
                f"less (seeds {seeds.start} to {seeds.stop - 1})"
            )
        before = recall
