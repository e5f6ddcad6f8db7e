"""What partial results are expected to find at a hop, from its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shedjoin.operators.multiway.lags import BUCKETS, HALF
from shedjoin.operators.multiway.tally import Tally
from shedjoin.plan.harvest_direction import Direction
from shedjoin.spec.throttle import Throttle
from shedjoin.types import FloatArray

_PRIOR = 0.5
"""Pseudo-count: matches that every hop is assumed to have, spread over all lags."""
_EMPTY = 0.05
"""A bucket with less than this part of the busiest one's rows counts as empty."""


class Hop(NamedTuple):
    """Work of one bucket, growth by number of buckets, and buckets, best first."""

    work: float
    growth: tuple[float, ...]
    ranked: tuple[int, ...]


_NOBODY = Hop(0.0, (0.0, 0.0), (HALF,))
"""Hop to a stream without residents, as to one whose rows are not kept."""


class Counted(NamedTuple):
    """Counts of a hop, as in ``Tally``; the arrays are by lag bucket."""

    partial: float
    rows: FloatArray
    matches: FloatArray
    squares: float


def hop_of(counted: Counted, part: float = 1.0) -> Hop:
    """What one partial result is expected to find at a hop, by lag bucket.

    Only a ``part`` of the other stream was stored. With all of it, more would be found.
    """
    partial, rows, matches, squares = counted
    if partial and not rows.any():
        return _NOBODY
    if not partial:
        partial = 1.0
        rows, matches = (
            np.repeat([0.0, max(1.0, Tally.opening)], HALF),
            np.zeros(BUCKETS),
        )
    used = np.flatnonzero(rows > _EMPTY * rows.max())
    chance = squares / used.size
    found = _settled(matches[used], rows[used] / rows[used].sum(), chance)
    # Ties go to the youngest rows: these are the first to be there.
    best = np.lexsort((np.abs(used - HALF + 0.5), -found))
    more = 1 / max(part, 1e-3)
    growth = np.cumsum(found[best]) / partial * more
    work = float(rows[used].mean() / partial)
    work += (more - 1) * max(0.0, work - Tally.opening)
    return Hop(work, (0.0, *growth.tolist()), tuple(used[best].tolist()))


def _settled(matches: FloatArray, flat: FloatArray, chance: float) -> FloatArray:
    """Matches by bucket, moved towards ``flat`` ones unless chance is exceeded.

    ``chance`` is the variance of random counts. The best of several random counts are
    not really better than the others.
    """
    variance = float(matches.var())
    apart = max(0.0, 1 - chance / variance) if variance > 0 else 0.0
    even: FloatArray = flat * float(matches.sum())
    return even + apart * (matches - even) + _PRIOR * flat


def direction_of(rate: float, hops: Sequence[Hop], throttle: Throttle) -> Direction:
    """Direction of arrivals that come at a rate, with their results and work."""
    return Direction(
        rate,
        tuple(throttle.update * hop.work for hop in hops),
        tuple(hop.growth for hop in hops),
        tuple(hop.ranked for hop in hops),
        throttle.match,
    )
