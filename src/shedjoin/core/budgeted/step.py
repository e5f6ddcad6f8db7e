"""One micro-batch of one shard under a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shedjoin.core.arrivals import Blob
from shedjoin.core.budgeted.gather import Pairs, gather
from shedjoin.core.budgeted.ordered import Ordered, ordered
from shedjoin.core.budgeted.rounds import ROOM_FOR, Rounds
from shedjoin.core.budgeted.store import BudgetedStore
from shedjoin.core.report import Report
from shedjoin.core.step import Outcome
from shedjoin.kernels.stages import (
    EVICTED,
    GAINED,
    LIFE,
    LIFE_SQUARED,
    MET,
    OUTLIVED,
    REFUSED,
    SPENT,
    STORED,
)
from shedjoin.types import IntArray


def budgeted_step(
    store: BudgetedStore, blobs: Sequence[Blob], watermark_ms: int
) -> Outcome:
    """Join the arrivals of a micro-batch, shed, and let go of what has expired.

    Late rows and expiry follow the same rules as without a budget.
    """
    arrivals = ordered(blobs, store.spec, store.watermark_ms)
    if store.in_bytes and arrivals.size.size:
        store.models.capacity_rows = sum(store.capacity) / arrivals.size.mean()
    rounds = Rounds(store, arrivals, store.shedding)
    store.models.seen_matches = 0.0
    store.models.seen_pairs = 0
    results: list[pa.RecordBatch] = []
    for pairs in _collected(rounds.run()):
        results += gather(arrivals, store.payload, store.spec, pairs)
    expired = store.expire(watermark_ms)
    keep = np.array(store.spec.keeps_us) * 1e-6
    rounds.sums[LIFE] += expired @ keep
    rounds.sums[LIFE_SQUARED] += expired @ keep**2
    store.keep_pending(arrivals)
    rounds.tally[EVICTED : EVICTED + 2] += store.fit()
    report = _report(store, arrivals, rounds, expired)
    checks, held = rounds.check.outcome(store.models.seen_pairs)
    report = replace(
        report,
        matched=sum(batch.num_rows for batch in results),
        slice_exact=store.models.seen_matches,
        slice_matched=rounds.monitored,
        weight=rounds.weight,
        checks=checks,
        checks_held=held,
        variance_eq=store.models.outlook.variance[0],
        variance_pps=store.models.outlook.variance[1],
        variance_uniform=store.models.outlook.variance[2],
    )
    return Outcome(results, report)


def _collected(parts: Iterator[Pairs]) -> Iterator[Pairs]:
    """Put the matches of small blocks together before their payload is gathered."""
    held: list[Pairs] = []
    for pairs in parts:
        held.append(pairs)
        if sum(part.arrival.size for part in held) >= ROOM_FOR:
            yield Pairs.joined(held)
            held = []
    if held:
        yield Pairs.joined(held)


def _report(
    store: BudgetedStore, arrivals: Ordered, rounds: Rounds, expired: IntArray
) -> Report:
    tally = rounds.tally.reshape(-1, 2)
    refused, evicted, outlived, stored, spent, met = (
        tally[first // 2] for first in (REFUSED, EVICTED, OUTLIVED, STORED, SPENT, MET)
    )
    taken = np.bincount(arrivals.side, minlength=2)
    late = np.array(arrivals.seen) - taken
    now = store.table.sides
    shed = taken - stored + refused + evicted + outlived + spent
    left_right = {
        "seen": arrivals.seen,
        "late": late,
        "stored": stored - refused,
        "expired": expired,
        "resident": now,
        "shed": shed,
    }
    counts = {
        f"{name}_{side}": int(both[place])
        for name, both in left_right.items()
        for place, side in enumerate(("left", "right"))
    }
    return Report(
        **counts,
        unadmitted=rounds.unwanted[0],
        unretained=rounds.unwanted[1],
        refused=int(refused.sum()),
        evicted=int(evicted.sum()),
        outlived=int(outlived.sum()),
        spent=int(spent.sum()),
        met=int(met.sum()),
        recomputed=rounds.recomputed,
        importance=float(rounds.sums[GAINED]),
        lifetimes=float(rounds.sums[LIFE]),
        lifetimes_squared=float(rounds.sums[LIFE_SQUARED]),
        segments=len(store.payload.segments),
        state_bytes=store.nbytes,
        watermark_ms=store.watermark_ms,
    )
