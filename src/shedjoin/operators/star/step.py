"""Joins one micro-batch of two streams through a relation, without a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shedjoin.columns.arrivals import Blob
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.operators.frame.step import windowed_step
from shedjoin.operators.star.changing import changed, with_changes
from shedjoin.operators.star.matches import joined_relation, taken_in
from shedjoin.operators.star.store import StarStore


@as_step
def star_step(store: StarStore, blobs: Sequence[Blob], watermark_ms: int) -> Running:
    """Change the relation, then join the arrivals of a micro-batch.

    First, residents of both streams are joined if new relation rows connect their keys.
    Then arrivals are joined with residents through the relation. A result consists of
    two stream rows and a relation row. It is found when the last of these rows comes.
    """
    changes, matched = changed(store, blobs), 0
    if changes.rows:
        for batch in joined_relation(store, changes.grown):
            matched += batch.num_rows
            yield batch
    step = windowed_step(store, partial(taken_in, store), blobs, watermark_ms)
    yield from step
    report = replace(
        step.report,
        matched=step.report.matched + matched,
        importance=step.report.importance + matched,
    )
    return with_changes(report, store, changes)
