"""Places of residents whose rows are not stored in a segment yet.

A *place* is a number that says where the row of a resident is. If the row is stored,
the place is not negative: it combines the number of a segment with a row of this
segment (see ``shedjoin.state.payload``). Until the row is stored, the place is
negative: it is ``-1 - position``. The ``position`` is the position of the arrival in
its part of the micro-batch.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.types import BoolArray, IntArray


def places_of(first: int, end: int) -> IntArray:
    """Places of the arrivals at positions ``first`` to ``end - 1``.

    >>> arrivals_at(places_of(3, 5)).tolist(), are_arrivals(places_of(0, 1)).tolist()
    ([3, 4], [True])
    """
    return -1 - np.arange(first, end)


def are_arrivals(place: IntArray) -> BoolArray:
    """For each place, whether it belongs to an arrival that is not stored yet."""
    return place < 0


def arrivals_at(place: IntArray) -> IntArray:
    """Positions of arrivals, given their places; all places must be negative."""
    return -1 - place


@inline_kernel
def is_arrival(place: int) -> bool:
    """Whether a place belongs to an arrival that is not stored yet."""
    return place < 0


@inline_kernel
def arrival_at(place: int) -> int:
    """Position of an arrival, given its place, which must be negative."""
    return -1 - place
