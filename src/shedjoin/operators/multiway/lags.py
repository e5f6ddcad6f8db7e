"""Lags: how much older residents are than the arrivals that are compared with them.

The lag is the time of the arrival minus the time of the resident. An arrival of stream
i and a resident of stream l can be in one result if their lag is from ``-keep[i]`` to
``keep[l]``. A lag is negative if the resident is younger. There are two reasons for
this: rows come out of order, and the streams of a micro-batch are joined one after
another. The range of lags is cut into *lag buckets*, as many below 0 as above.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from shedjoin.spec.streams import JoinSpec
from shedjoin.types import IntArray

HALF = 40
"""Number of buckets below 0, and also above 0. Wider buckets cost more work per
result."""
BUCKETS = 2 * HALF

Stretches: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of lags in microseconds, with both ends included."""

Edges: TypeAlias = dict[tuple[int, int], IntArray]
"""Starts of the lag buckets and the end of the last one, by direction and hop."""


class Looks(NamedTuple):
    """The residents with which the arrivals of one stream are compared.

    Arrivals are joined with the other streams in this ``order``. ``lags`` has stretches
    for each other stream. Only residents with lags in these stretches are compared.
    """

    order: tuple[int, ...]
    lags: dict[int, Stretches]


def everything(spec: JoinSpec, stream: int, order: Iterable[int]) -> Looks:
    """Looks that cover all residents."""
    order = tuple(order)
    return Looks(order, {one: (lag_range(spec, stream, one),) for one in order})


def lag_range(spec: JoinSpec, stream: int, other: int) -> tuple[int, int]:
    """Least and greatest lag of a resident that an arrival can match."""
    return -spec.keeps_us[stream], spec.keeps_us[other]


def lag_edges(
    spec: JoinSpec, stream: int, other: int, narrowest_us: int = 1
) -> IntArray:
    """Starts of the lag buckets of a hop, and the end of the last bucket.

    No bucket is narrower than ``narrowest_us``, except buckets of width 0. Buckets of
    width 0 are added if needed, so that the number of buckets is always the same.
    """
    first, last = lag_range(spec, stream, other)
    if not first < 0 < last:
        return _cut(first, max(first, last), BUCKETS, narrowest_us)
    below = _cut(first, 0, HALF, narrowest_us)
    return np.concatenate([below, _cut(0, last, HALF, narrowest_us)[1:]])


def _cut(first: int, last: int, buckets: int, narrowest_us: int) -> IntArray:
    wide = min(buckets, max(1, (last - first) // narrowest_us))
    edges = np.linspace(first, last, wide + 1).astype(np.int64)
    return edges[np.arange(buckets + 1) * wide // buckets]


def stretches(edges: IntArray, chosen: Iterable[int]) -> Stretches:
    """Lags of some buckets as stretches; adjacent buckets make one stretch.

    >>> stretches(np.array([-2, 0, 3, 6, 9]), [3, 0, 2])
    ((-2, -1), (3, 9))
    """
    found: list[tuple[int, int]] = []
    for bucket in sorted(chosen):
        first, end = int(edges[bucket]), int(edges[bucket + 1])
        last = end if bucket == edges.size - 2 else end - 1
        if found and found[-1][1] == first - 1:
            first = found.pop()[0]
        if first <= last:
            found.append((first, last))
    return tuple(found)


def buckets(edges: IntArray, lag: IntArray) -> IntArray:
    """Number of the bucket of each lag."""
    bucket = np.searchsorted(edges, lag, side="right") - 1
    return np.clip(bucket, 0, BUCKETS - 1)
