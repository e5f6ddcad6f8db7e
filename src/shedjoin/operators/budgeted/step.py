"""Joins one micro-batch of one shard within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from shedjoin.columns.arrivals import Blob
from shedjoin.kernels.round import EVICTED
from shedjoin.operators.budgeted.bundles import ROOM_FOR
from shedjoin.operators.budgeted.gather import Pairs, gather
from shedjoin.operators.budgeted.miniature import begin_with_part, with_other_budgets
from shedjoin.operators.budgeted.rounds import Rounds
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.frame.completeness import NOTHING, Measured
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.operators.frame.ordered import Ordered, Timely
from shedjoin.operators.frame.sharing import Share, share_at
from shedjoin.spec.report import Report
from shedjoin.types import IntArray


@as_step
def budgeted_step(
    store: BudgetedStore,
    blobs: Sequence[Blob],
    watermark_ms: int,
    before: Measured = NOTHING,
) -> Running:
    """Join the arrivals of a micro-batch, shed rows, and remove expired residents.

    The budget does not change which rows are late, or when rows expire. ``before``
    counts results that this micro-batch has already found.
    """
    arrivals = Timely(blobs, store.spec, store.watermark_ms, store.slot_bytes)
    shares = _begin(store, blobs, watermark_ms)
    rounds = Rounds(store, store.shedding)
    rounds.value_residents()
    rounds.room.tally[EVICTED] += store.shed_surplus()
    matched = ahead = 0
    same_keys = store.through.same_keys
    part: Ordered | None = None
    for following in arrivals.parts([share.since_us for share in shares[1:]]):
        if part is not None:
            store.keep_pending(part)
            rounds.room.tally[EVICTED] += store.fit()
        rounds.limit(share_at(shares, int(following.time[0])))
        part = following
        store.needed.add(part)
        store.completeness.note_came(int(part.time[-1]))
        store.start(int(part.time[0]), watermark_ms)
        rounds.room.tally[EVICTED] += rounds.verbs.load.thin(store, part)
        store.models.capacity_rows = sum(store.capacity) / part.size.mean()
        for pairs in _collected(rounds.run(part)):
            for batch in gather(part, store.payload, store.spec, pairs, same_keys):
                matched += batch.num_rows
                yield batch
        ahead += store.count_ahead(part.time)
    expired = store.expire(watermark_ms)
    if part is not None:
        store.keep_pending(part)
    rounds.limit(store.sharing.now)
    _count_lives(rounds, store, expired)
    rounds.room.tally[EVICTED] += store.fit()
    report = _report(_learned(store, rounds), store, arrivals, rounds, expired)
    matched += int(before.results)
    gained = report.importance + before.importance
    report = replace(report, matched=matched, importance=gained, ahead=ahead)
    return _told(store, report, saves=rounds.verbs.load.active)


def _begin(
    store: BudgetedStore, blobs: Sequence[Blob], watermark_ms: int
) -> list[Share]:
    """Begin a micro-batch; return the shares of the budget that it uses, by time."""
    store.completeness.begin(store.spec.all_expired_us(store.watermark_ms))
    store.table.facts["longest_chain"] = 0
    store.models.begin_count()
    store.needed.begin()
    begin_with_part(store)
    shares = store.sharing.arrive(blobs, watermark_ms)
    store.limit(shares[0])
    store.limit_sample()
    return shares


def _count_lives(rounds: Rounds, store: BudgetedStore, expired: IntArray) -> None:
    """Add up the lifetimes of rows that have expired, given their number by stream."""
    keep = np.array(store.spec.keeps_us) * 1e-6
    rounds.room.sums["life"] += expired @ keep
    rounds.room.sums["life_squared"] += expired @ keep**2


def _told(store: BudgetedStore, report: Report, *, saves: bool) -> Report:
    """Add the recall to a report, and the results expected with other budgets."""
    store.table.facts["longest_chain"] = 0  # a count, not a part of the state
    skips = any(report.shed) or saves or store.shedding.policy.samples
    if skips:
        store.completeness.note_shed_of_all(store.table.clock_us)
    measured = Measured(report.matched, report.importance, *store.models.missed())
    reason = store.untold()
    told = store.completeness.told(report, measured, skips=skips, reason=reason)
    return with_other_budgets(store, told)


def _collected(parts: Iterator[Pairs]) -> Iterator[Pairs]:
    """Concatenate the matches of small blocks, before their rows are gathered."""
    held: list[Pairs] = []
    for pairs in parts:
        held.append(pairs)
        if sum(part.arrival.size for part in held) >= ROOM_FOR:
            yield Pairs.joined(held)
            held = []
    if held:
        yield Pairs.joined(held)


def _learned(store: BudgetedStore, rounds: Rounds) -> Report:
    """Report with only the facts of a sample: weight, checks, predicted variances."""
    checks, held = rounds.matches.check.outcome(store.models.seen_pairs)
    variance = store.models.outlook.variance
    return Report(
        weight=rounds.matches.weight,
        checks=checks,
        checks_held=held,
        variance_eq=variance[0],
        variance_pps=variance[1],
        variance_uniform=variance[2],
    )


def _report(
    learned: Report,
    store: BudgetedStore,
    arrivals: Timely,
    rounds: Rounds,
    expired: IntArray,
) -> Report:
    refused, evicted, outlived, stored, spent, met = rounds.room.tally
    taken = np.array(arrivals.taken)
    late = np.array(arrivals.seen) - taken
    shed = taken - stored - rounds.alone + refused + evicted + outlived + spent
    by_stream = {
        "seen": arrivals.seen,
        "late": late,
        "stored": stored - refused + rounds.alone,
        "expired": expired + rounds.alone,
        "resident": store.table.by_stream,
        "shed": shed,
    }
    counts = {name: tuple(map(int, each)) for name, each in by_stream.items()}
    return replace(
        learned,
        **counts,  # type: ignore[arg-type]  # those that have one per stream
        longest_chain=int(store.table.facts["longest_chain"]),
        unadmitted=rounds.verbs.unadmitted,
        unretained=rounds.verbs.unretained,
        refused=int(refused.sum()),
        evicted=int(evicted.sum()),
        outlived=int(outlived.sum()),
        spent=int(spent.sum()),
        met=int(met.sum()),
        recomputed=rounds.stops.recomputed,
        importance=float(rounds.room.sums["gained"]),
        lifetimes=float(rounds.room.sums["life"]),
        lifetimes_squared=float(rounds.room.sums["life_squared"]),
        segments=len(store.payload.segments),
        **store.needed.end(store.watermark_ms),  # type: ignore[arg-type]  # whole
        budget=store.share if store.shedding.budget.limits_memory else 0,
        state_bytes=store.nbytes,
        watermark_ms=store.watermark_ms,
    )
