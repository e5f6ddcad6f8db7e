"""Joins one micro-batch of two streams through a relation, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from shedjoin.columns.arrivals import Blob
from shedjoin.kernels.partners import Ranges
from shedjoin.operators.budgeted.step import budgeted_step
from shedjoin.operators.frame.combine import Met, combine_rows
from shedjoin.operators.frame.completeness import Measured
from shedjoin.operators.frame.join import Running, as_step
from shedjoin.operators.frame.results import gathered, room_within, row_bytes
from shedjoin.operators.frame.worth import combined
from shedjoin.operators.star.budgeted_store import BudgetedStarStore
from shedjoin.operators.star.changing import LEFT, RIGHT, SIDES, changed, with_changes
from shedjoin.operators.star.relation import Grown
from shedjoin.types import IntArray


@as_step
def budgeted_star_step(
    store: BudgetedStarStore, blobs: Sequence[Blob], watermark_ms: int
) -> Running:
    """Change the relation, then join the arrivals of a micro-batch, and shed rows.

    First, residents of both streams are joined if new relation rows connect their keys.
    """
    changes, matched, gained = changed(store, blobs), 0, 0.0
    if changes.rows:
        store.note_unseen(changes.grown)
        for slots in _met(store, changes.grown):
            gained += _gained(store, slots)
            for left, right in _pieces(store, *slots):
                for batch in _results(store, left, right):
                    matched += batch.num_rows
                    yield batch
    step = budgeted_step(store, blobs, watermark_ms, Measured(matched, gained))
    yield from step
    return with_changes(step.report, store, changes)


def _met(store: BudgetedStarStore, grown: Grown) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield slots of residents that match because of new relation rows."""
    relation, keeps_us = store.relation.rows, store.spec.keeps_us
    begin, end = relation.begin[grown.slot], relation.end[grown.slot]
    there = [store.horizon_us(stream) + 1 for stream in SIDES]
    low = np.maximum(begin, there[LEFT])
    ranges = Ranges(LEFT, relation.keys(LEFT)[grown.slot], low, end - 1)
    for at, left in store.found(ranges):
        time = store.table.table.residents["time"][left]
        low = np.maximum(time - keeps_us[RIGHT], begin[at])
        low = np.maximum(low, there[RIGHT])
        high = np.minimum(time + keeps_us[LEFT], end[at] - 1)
        ranges = Ranges(RIGHT, relation.keys(RIGHT)[grown.slot[at]], low, high)
        for hit, right in store.found(ranges):
            others = store.table.table.residents["time"][right]
            new = np.maximum(time[hit], others) >= grown.since[at[hit]]
            yield left[hit[new]], right[new]


def _gained(store: BudgetedStarStore, slots: tuple[IntArray, IntArray]) -> float:
    """Sum of the importances of results, given the slots of their rows."""
    importance = store.table.table.details["importance"]
    worth = [importance[each] for each in slots]
    return float(combined(worth, store.shedding.combine).sum())


def _pieces(
    store: BudgetedStarStore, left: IntArray, right: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Cut results into pieces that fit into memory, given the mean size of a row."""
    room = room_within(2 * row_bytes(store.payload.segments.values()))
    for start in range(0, left.size, room):
        yield left[start : start + room], right[start : start + room]


def _results(
    store: BudgetedStarStore, left: IntArray, right: IntArray
) -> Iterator[pa.RecordBatch]:
    """Yield the joined rows of residents, given by their slots."""
    if not left.size:
        return
    met = []
    for slots in (left, right):
        place = store.table.places[slots]
        rows = gathered(store.payload.by_place(place), place.size)
        met.append(Met(rows, np.arange(place.size)))
    yield from combine_rows(store.spec, met, same_keys=store.through.same_keys)
