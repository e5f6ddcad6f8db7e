"""Payload of matches: arrivals beside residents, wherever those lie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shedjoin.core.budgeted.ordered import Ordered
from shedjoin.core.budgeted.payload import Payload
from shedjoin.core.matches import Met, combine_rows
from shedjoin.core.spec import JoinSpec
from shedjoin.types import SIDES, IntArray, Side


def gather(
    arrivals: Ordered,
    payload: Payload,
    spec: JoinSpec,
    arrival: IntArray,
    place: IntArray,
) -> Iterator[pa.RecordBatch]:
    """Joined rows of pairs (arrival, place of the resident)."""
    for side in SIDES:
        mine = np.flatnonzero(arrivals.side[arrival] == side)
        stored = mine[place[mine] >= 0]
        fresh = mine[place[mine] < 0]
        if fresh.size:
            other = arrivals.rows[1 - side]
            hit = arrivals.origin[-1 - place[fresh]]
            yield from _pairs(arrivals, spec, side, arrival[fresh], other, hit)
        if stored.size:
            for rows, hit, at in payload.by_segment(place[stored]):
                taken = arrival[stored[at]]
                yield from _pairs(arrivals, spec, side, taken, rows, hit)


def _pairs(
    arrivals: Ordered,
    spec: JoinSpec,
    side: Side,
    arrival: IntArray,
    rows: pa.RecordBatch,
    hit: IntArray,
) -> Iterator[pa.RecordBatch]:
    mine = Met(arrivals.rows[side], arrivals.origin[arrival])
    return combine_rows(spec, side, mine, Met(rows, hit))
