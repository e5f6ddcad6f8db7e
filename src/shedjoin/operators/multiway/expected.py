"""Estimates the matches and the work of partial results at a hop, from counts."""

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
"""Pseudo-count: half a match that is added to every hop, spread over all lags."""
_EMPTY = 0.05
"""A lag bucket counts as empty if it has less than this part of the rows of the fullest
bucket."""


class Hop(NamedTuple):
    """Estimates for one partial result at a hop.

    ``work`` is the work of one lag bucket, in comparisons. ``ranked`` are the buckets;
    those with the most matches come first. ``growth[c]`` is the number of matches in
    the first c of these buckets.
    """

    work: float
    growth: tuple[float, ...]
    ranked: tuple[int, ...]


_NOBODY = Hop(0.0, (0.0, 0.0), (HALF,))
"""Hop to a stream without residents, such as one whose rows are not kept."""


class Counted(NamedTuple):
    """Counts of a hop, as in ``Tally``; the arrays are by lag bucket."""

    partial: float
    rows: FloatArray
    matches: FloatArray
    squares: float


def hop_of(counted: Counted, part: float = 1.0) -> Hop:
    """Estimate what one partial result finds at a hop, by lag bucket.

    ``part`` is the part of the other stream that was stored. The estimate is for a join
    that stores the whole stream.
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
    # Among equal buckets, the smallest lags are best: these buckets fill up first.
    best = np.lexsort((np.abs(used - HALF + 0.5), -found))
    more = 1 / max(part, 1e-3)
    growth = np.cumsum(found[best]) / partial * more
    work = float(rows[used].mean() / partial)
    work += (more - 1) * max(0.0, work - Tally.opening)
    return Hop(work, (0.0, *growth.tolist()), tuple(used[best].tolist()))


def _settled(matches: FloatArray, flat: FloatArray, chance: float) -> FloatArray:
    """Matches by bucket, corrected for differences that may be due to chance.

    ``chance`` is the variance that the counts have by chance. If their variance is
    hardly greater, buckets with many matches are probably no better than others. So the
    matches are moved towards the distribution ``flat``. The less their variance exceeds
    ``chance``, the more they are moved.
    """
    variance = float(matches.var())
    apart = max(0.0, 1 - chance / variance) if variance > 0 else 0.0
    even: FloatArray = flat * float(matches.sum())
    return even + apart * (matches - even) + _PRIOR * flat


def direction_of(rate: float, hops: Sequence[Hop], throttle: Throttle) -> Direction:
    """Direction of a stream whose arrivals come at ``rate``, given its hops."""
    return Direction(
        rate,
        tuple(throttle.update * hop.work for hop in hops),
        tuple(hop.growth for hop in hops),
        tuple(hop.ranked for hop in hops),
        throttle.match,
    )
