"""What partial results find at a hop, as expected from what was counted there."""

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
"""Matches that every hop is supposed to have, at any lag: nothing seen is not never."""
_EMPTY = 0.05
"""Buckets with less of the most work hold nobody: younger rows are not there yet."""


class Hop(NamedTuple):
    """Work of one bucket, growth by the number of buckets, and the best buckets."""

    work: float
    growth: tuple[float, ...]
    ranked: tuple[int, ...]


_NOBODY = Hop(0.0, (0.0, 0.0), (HALF,))
"""No residents are there to be looked at, as of a stream whose rows do not wait."""


class Counted(NamedTuple):
    """What was counted at a hop, as in ``Tally``; the arrays are by lag bucket."""

    partial: float
    rows: FloatArray
    matches: FloatArray
    squares: float


def hop_of(counted: Counted, part: float = 1.0) -> Hop:
    """What one partial result finds at a hop, by lag bucket.

    Of the other stream only a ``part`` was stored; more would be met with all.
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
    # Among equals the youngest first: they are there the soonest.
    best = np.lexsort((np.abs(used - HALF + 0.5), -found))
    more = 1 / max(part, 1e-3)
    growth = np.cumsum(found[best]) / partial * more
    work = float(rows[used].mean() / partial)
    work += (more - 1) * max(0.0, work - Tally.opening)
    return Hop(work, (0.0, *growth.tolist()), tuple(used[best].tolist()))


def _settled(matches: FloatArray, flat: FloatArray, chance: float) -> FloatArray:
    """Matches by bucket, as far as they differ by more than chance from flat ones.

    Counts at random have a variance, ``chance``: the best of them are no better.
    """
    variance = float(matches.var())
    apart = max(0.0, 1 - chance / variance) if variance > 0 else 0.0
    even: FloatArray = flat * float(matches.sum())
    return even + apart * (matches - even) + _PRIOR * flat


def direction_of(rate: float, hops: Sequence[Hop], throttle: Throttle) -> Direction:
    """Results and work of a direction whose arrivals come at a rate."""
    return Direction(
        rate,
        tuple(throttle.update * hop.work for hop in hops),
        tuple(hop.growth for hop in hops),
        tuple(hop.ranked for hop in hops),
        throttle.match,
    )
