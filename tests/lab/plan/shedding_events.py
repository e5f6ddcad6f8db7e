"""A window join, event by event, in which some arrivals do not probe or are not stored.

Written from the definitions, not from any formula: rows come at random instants, each
meets the rows of its key that the other stream stored within the window, and every
insertion and every result is counted.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.types import BoolArray, FloatArray, IntArray


class Arrivals(NamedTuple):
    """Rows of both streams in the order of their times."""

    time: FloatArray
    stream: IntArray
    key: IntArray


class Measured(NamedTuple):
    """Per time unit, after the windows have filled."""

    results: float
    updates: float


def arrivals(
    rng: np.random.Generator,
    rates: Sequence[float],
    shares: Sequence[FloatArray],
    rows: int,
) -> Arrivals:
    """Poisson arrivals; keys are independent, with these shares on each stream."""
    time = np.cumsum(rng.exponential(1 / sum(rates), rows))
    stream = (rng.random(rows) >= rates[0] / sum(rates)).astype(np.int64)
    left, right = (rng.choice(part.size, rows, p=part) for part in shares)
    return Arrivals(time, stream, np.where(stream == 0, left, right))


def run(
    rows: Arrivals, windows: Sequence[float], probes: BoolArray, stores: BoolArray
) -> Measured:
    """Run the join; the count starts when both windows can be full."""
    stored: tuple[dict[int, deque[float]], ...] = (
        defaultdict(deque),
        defaultdict(deque),
    )
    start = max(windows)
    results = updates = 0
    columns = [column.tolist() for column in (*rows, probes, stores)]
    for time, stream, key, is_probing, is_stored in zip(*columns, strict=True):
        if is_probing:
            partners = stored[1 - stream][key]
            while partners and time - partners[0] > windows[1 - stream]:
                partners.popleft()
            results += len(partners) if time >= start else 0
        if is_stored:
            stored[stream][key].append(time)
            updates += time >= start
    length = float(rows.time[-1]) - start
    return Measured(results / length, updates / length)
