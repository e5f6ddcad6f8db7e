"""Joined rows: the columns of the matched rows beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shedjoin.columns.equality import equal_rows
from shedjoin.spec.keys import SAMPLE
from shedjoin.spec.streams import JoinSpec
from shedjoin.types import LEFT, RIGHT, BoolArray, IntArray, Side


class Met(NamedTuple):
    """Rows of one side that were matched: which rows of which batch."""

    rows: pa.RecordBatch
    at: IntArray


def combine_rows(
    spec: JoinSpec, side: Side, mine: Met, theirs: Met, said: Met | None = None
) -> Iterator[pa.RecordBatch]:
    """Joined rows of arrivals of ``side`` and residents of the other side.

    ``said`` is what the join itself says of each pair, if it does.
    """
    other: Side = RIGHT if side == LEFT else LEFT
    parts: dict[int, Met] = {side: mine, other: theirs}
    if said is not None:
        parts[SAMPLE] = said
    if not spec.direct:
        same = _same_keys(spec, side, mine, theirs)
        parts = {which: Met(met.rows, met.at[same]) for which, met in parts.items()}
    return _combine(spec, parts)


def _combine(spec: JoinSpec, parts: dict[int, Met]) -> Iterator[pa.RecordBatch]:
    """Take the matched rows of both sides; in halves where a column would overflow."""
    places = {side: pa.array(met.at) for side, met in parts.items()}
    try:
        columns = [
            parts[column.side].rows.column(column.source).take(places[column.side])
            for column in spec.output
        ]
    except pa.ArrowInvalid:  # over 2 GiB of text in one column
        half = len(parts[LEFT].at) // 2
        if not half:
            raise
        for half_of in (slice(None, half), slice(half, None)):
            halves = {s: Met(met.rows, met.at[half_of]) for s, met in parts.items()}
            yield from _combine(spec, halves)
    else:
        yield pa.RecordBatch.from_arrays(columns, [c.name for c in spec.output])


def _same_keys(spec: JoinSpec, side: Side, mine: Met, theirs: Met) -> BoolArray:
    """Check true keys: two keys of several columns may share a hash."""
    other: Side = RIGHT if side == LEFT else LEFT
    same = np.ones(mine.at.size, np.bool_)
    taken, found = pa.array(mine.at), pa.array(theirs.at)
    names = zip(spec.sides[side].keys, spec.sides[other].keys, strict=True)
    for own, opposite in names:
        arrived = mine.rows.column(own).take(taken)
        same &= equal_rows(arrived, theirs.rows.column(opposite).take(found))
    return same
