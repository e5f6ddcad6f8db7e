"""Places of payload that is not stored yet.

While an arrival is a resident whose row is not stored, its *place* is that of the
arrival in its part of the micro-batch, as a negative number. Otherwise the place is a
segment and a row of it (see ``shedjoin.state.payload``), and is not negative.
"""

from __future__ import annotations

import numpy as np

from shedjoin.kernels.jit import inline_kernel
from shedjoin.types import BoolArray, IntArray


def places_of(first: int, end: int) -> IntArray:
    """Places of the arrivals from ``first`` on, before ``end``.

    >>> arrivals_at(places_of(3, 5)).tolist(), are_arrivals(places_of(0, 1)).tolist()
    ([3, 4], [True])
    """
    return -1 - np.arange(first, end)


def are_arrivals(place: IntArray) -> BoolArray:
    """Flags of the places that are those of arrivals."""
    return place < 0


def arrivals_at(place: IntArray) -> IntArray:
    """Arrivals at places of which all are those of arrivals."""
    return -1 - place


@inline_kernel
def is_arrival(place: int) -> bool:
    """Whether a place is that of an arrival."""
    return place < 0


@inline_kernel
def arrival_at(place: int) -> int:
    """The arrival at a place."""
    return -1 - place
