"""Applies the changes of a relation in a micro-batch, with or without a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob, pieces_of
from shedjoin.operators.star.fixed import FixedRelation
from shedjoin.operators.star.relation import Grown, late_changes, waited_until
from shedjoin.operators.star.relation_store import RelationStore
from shedjoin.spec.relation import RELATION
from shedjoin.spec.report import Report
from shedjoin.spec.streams import JoinSpec

SIDES = LEFT, RIGHT = 0, 1


class RelatedStore(Protocol):
    """Residents of two streams, and the relation between them."""

    spec: JoinSpec
    relation: RelationStore | FixedRelation
    watermark_ms: int
    delay_us: int

    def horizon_us(self, stream: int) -> int:
        """Time up to which residents cannot be matched any more."""

    def latest_us(self) -> int:
        """Greatest time of a resident; 0 if there is none."""


class Changes(NamedTuple):
    """Number of changes, number of late changes, and rows added or prolonged."""

    rows: int
    late: int
    grown: Grown


def changed(store: RelatedStore, blobs: Sequence[Blob]) -> Changes:
    """Apply changes of the relation before the arrivals of a micro-batch are joined.

    First, segments of the relation may be rewritten. Relation rows then get new slots.
    A relation row is kept as long as the residents that it connects. So the join can
    recognise the relation row if it is sent again.
    """
    store.relation.tidy(min(map(store.horizon_us, SIDES)))
    parts = list(pieces_of(blobs, RELATION))
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Changes(0, 0, Grown(nothing, nothing))
    rows, form = pa.concat_batches(parts), store.spec.relation
    fixed = form is not None and form.fixed
    applied = store.relation.apply(rows, table=fixed)
    waited_us = waited_until(store.watermark_ms, store.delay_us)
    known = waited_us, passed_us(store), store.latest_us()
    late = late_changes(store.relation.rows, applied, *known)
    return Changes(rows.num_rows, late, applied.grown)


def passed_us(store: RelatedStore) -> int:
    """Time up to which no more arrivals can come."""
    return 1000 * store.watermark_ms - store.spec.lag_us


def with_changes(report: Report, store: RelatedStore, changes: Changes) -> Report:
    """Add the counts of the relation to a report."""
    return replace(
        report,
        changes=changes.rows,
        changes_late=changes.late,
        relation=store.relation.rows.count_after(passed_us(store)),
    )
