"""One micro-batch of one shard under a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shedjoin.core.arrivals import Blob
from shedjoin.core.budgeted.gather import gather
from shedjoin.core.budgeted.ordered import Ordered, ordered
from shedjoin.core.budgeted.rounds import PAIRS, Pairs, Rounds
from shedjoin.core.budgeted.store import BudgetedStore
from shedjoin.core.report import Report
from shedjoin.core.step import Outcome
from shedjoin.kernels.stages import (
    EVICTED,
    GAINED,
    LIFE,
    LIFE_SQUARED,
    OUTLIVED,
    REFUSED,
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
    rounds = Rounds(store, arrivals, store.shedding)
    store.models.seen_matches = 0.0
    results: list[pa.RecordBatch] = []
    for arrival, place in _collected(rounds.run()):
        results += gather(arrivals, store.payload, store.spec, arrival, place)
    expired = store.expire(watermark_ms)
    keep = np.array(store.spec.keeps_us) * 1e-6
    rounds.sums[LIFE] += expired @ keep
    rounds.sums[LIFE_SQUARED] += expired @ keep**2
    store.keep_pending(arrivals)
    rounds.tally[EVICTED : EVICTED + 2] += store.fit()
    report = _report(store, arrivals, rounds, expired)
    report = replace(
        report,
        matched=sum(batch.num_rows for batch in results),
        slice_exact=store.models.seen_matches,
        slice_matched=rounds.monitored,
    )
    return Outcome(results, report)


def _collected(parts: Iterator[Pairs]) -> Iterator[Pairs]:
    """Put the matches of small blocks together before their payload is gathered."""
    held: list[Pairs] = []
    for pairs in parts:
        held.append(pairs)
        if sum(arrival.size for arrival, _ in held) >= PAIRS:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(held: list[Pairs]) -> Pairs:
    arrival, place = zip(*held, strict=True)
    return np.concatenate(arrival), np.concatenate(place)


def _report(
    store: BudgetedStore, arrivals: Ordered, rounds: Rounds, expired: IntArray
) -> Report:
    tally = rounds.tally.reshape(-1, 2)
    refused, evicted, outlived, stored = (
        tally[first // 2] for first in (REFUSED, EVICTED, OUTLIVED, STORED)
    )
    taken = np.bincount(arrivals.side, minlength=2)
    late = np.array(arrivals.seen) - taken
    now = store.table.sides
    shed = taken - stored + refused + evicted + outlived
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
        recomputed=rounds.recomputed,
        importance=float(rounds.sums[GAINED]),
        lifetimes=float(rounds.sums[LIFE]),
        lifetimes_squared=float(rounds.sums[LIFE_SQUARED]),
        segments=len(store.payload.segments),
        state_bytes=store.nbytes,
        watermark_ms=store.watermark_ms,
    )
