"""One micro-batch of a join through a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from shedjoin.columns.arrivals import Blob, pieces_of
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.operators.frame.step import windowed_step
from shedjoin.operators.star.matches import joined_relation, taken_in
from shedjoin.operators.star.relation import late_changes, waited_until
from shedjoin.operators.star.store import StarStore
from shedjoin.spec.relation import RELATION


@as_step
def star_step(store: StarStore, blobs: Sequence[Blob], watermark_ms: int) -> Running:
    """Change the relation, then join the arrivals of a micro-batch.

    A new relation row first joins the residents of both streams. Then arrivals are
    joined with residents through the relation. So a result is found once, by the one of
    its three rows that comes last.
    """
    store.tidy_relation()
    matched = changes = late = 0
    parts = list(pieces_of(blobs, RELATION))
    if parts:
        rows = pa.concat_batches(parts)
        applied = store.relation.apply(rows, table=store.fixed)
        changes = rows.num_rows
        latest_us = max((run.max_us for own in store.runs for run in own), default=0)
        waited_us = waited_until(store.watermark_ms, store.delay_us)
        known = waited_us, store.passed_us, latest_us
        late = late_changes(store.relation.rows, applied, *known)
        store.moved = applied.moved
        for batch in joined_relation(store, applied.grown):
            matched += batch.num_rows
            yield batch
    step = windowed_step(store, partial(taken_in, store), blobs, watermark_ms)
    yield from step
    report = step.report
    active = store.relation.rows.count_after(store.passed_us)
    return replace(
        report,
        matched=report.matched + matched,
        importance=report.importance + matched,
        changes=changes,
        changes_late=late,
        relation=active,
    )
