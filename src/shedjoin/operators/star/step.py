"""One micro-batch of a join through a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, pieces_of
from shedjoin.columns.relating import Related
from shedjoin.operators.frame.join import Step
from shedjoin.operators.frame.step import windowed_step
from shedjoin.operators.star.matches import joined_arrivals, joined_relation
from shedjoin.operators.star.store import StarStore
from shedjoin.spec.relation import RELATION


def star_step(store: StarStore, blobs: Sequence[Blob], watermark_ms: int) -> Step:
    """Change the relation, then join the arrivals of a micro-batch.

    A relation row meets the residents of both streams, then arrivals meet the relation
    and each other's residents: a result is found once, by whichever of its three rows
    comes last.
    """
    store.tidy()
    matched = changes = late = 0
    parts = list(pieces_of(blobs, RELATION))
    if parts:
        rows = pa.concat_batches(parts)
        changes, late = rows.num_rows, _late(store, Related.of(rows))
        grown, store.moved = store.relation.apply(rows)
        for batch in joined_relation(store, grown):
            matched += batch.num_rows
            yield batch
    joined = partial(joined_arrivals, store)
    report = yield from windowed_step(store, joined, blobs, watermark_ms)
    active = store.relation.rows.count_after(1000 * store.watermark_ms)
    return replace(
        report,
        matched=report.matched + matched,
        importance=report.importance + matched,
        changes=changes,
        changes_late=late,
        relation=active,
    )


def _late(store: StarStore, changes: Related) -> int:
    """Count changes that rows no longer know, or did not know in time.

    Rows that a new relation row would have related may have left; and of a deleted one
    results may have been given that would not be there.
    """
    known_us = 1000 * store.watermark_ms
    begun = ~changes.deleted & (changes.begin > -(1 << 61))
    late = begun & (changes.begin <= known_us - store.delay_us)
    runs = [run.max_us for own in store.runs for run in own]
    latest_us = max(runs, default=known_us)
    late |= changes.deleted & (changes.end <= max(known_us, latest_us))
    return int(np.count_nonzero(late))
